// A page of the erasures about some contacts, for an export.
// mode: read
MATCH (contact:Contact)<-[:ERASES]-(erasure:Erasure)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_key AS contact_key, erasure
MATCH (erasure)
WHERE erasure.erasure_id > $after
RETURN contact_key, erasure.erasure_id AS node_id, erasure AS node
ORDER BY node_id
LIMIT $limit
