// A page of the decisions about some contacts as they are kept, for an export.
// mode: read
MATCH (contact:Contact)<-[:`FOR`]-(decision:Decision)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_key AS contact_key, decision
MATCH (decision)
WHERE decision.decision_id > $after
RETURN contact_key, decision.decision_id AS node_id, decision AS node
ORDER BY node_id
LIMIT $limit
