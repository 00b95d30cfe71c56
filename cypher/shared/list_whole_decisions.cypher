// A page of the stored decisions about some contacts, for an export. Only ids are sorted, and then the
// decisions of the page are looked up.
// mode: read
MATCH (contact:Contact)<-[:`FOR`]-(decision:Decision)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_key AS contact_key, decision
MATCH (decision)
WHERE decision.decision_id > $after
WITH contact_key, decision.decision_id AS node_id
ORDER BY node_id
LIMIT $limit
MATCH (decision:Decision {decision_id: node_id})
RETURN contact_key, node_id, decision AS node
ORDER BY node_id
