// A page of the erasures of what was known of a contact, for an export.
// mode: read
// params: contact_key, after, limit
// returns: node_id, node
MATCH (contact:Contact {contact_key: $contact_key})<-[:ERASES]-(erasure:Erasure)
WITH erasure
MATCH (erasure)
WHERE erasure.erasure_id > $after
RETURN erasure.erasure_id AS node_id, erasure AS node
ORDER BY node_id
LIMIT $limit
