// A page of the decisions about a contact as they are kept, for an export.
// mode: read
// params: contact_key, after, limit
// returns: node_id, node
MATCH (contact:Contact {contact_key: $contact_key})<-[:`FOR`]-(decision:Decision)
WITH decision
MATCH (decision)
WHERE decision.decision_id > $after
RETURN decision.decision_id AS node_id, decision AS node
ORDER BY node_id
LIMIT $limit
