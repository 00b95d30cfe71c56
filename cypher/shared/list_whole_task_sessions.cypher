// A page of the sessions that are part of a contact's tasks, as they are kept, for an export: also
// such in which no turn was kept yet.
// mode: read
// params: contact_key, after, limit
// returns: node_id, node
MATCH (contact:Contact {contact_key: $contact_key})<-[:CONCERNS]-(task:Task)
MATCH (task)<-[:PART_OF]-(session:Session)
WITH session
WHERE session.session_key > $after
RETURN session.session_key AS node_id, session AS node
ORDER BY node_id
LIMIT $limit
