// A page of some contacts' stored sessions, for an export.
// mode: read
MATCH (contact:Contact)<-[:`WITH`]-(session:Session)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_key AS contact_key, session
MATCH (session)
WHERE session.session_key > $after
RETURN contact_key, session.session_key AS node_id, session AS node
ORDER BY node_id
LIMIT $limit
