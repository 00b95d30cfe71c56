// A page of a contact's sessions as they are kept, for an export.
// mode: read
// params: contact_key, after, limit
// returns: node_id, node
MATCH (contact:Contact {contact_key: $contact_key})<-[:`WITH`]-(session:Session)
WITH session
MATCH (session)
WHERE session.session_key > $after
RETURN session.session_key AS node_id, session AS node
ORDER BY node_id
LIMIT $limit
