// Which sessions are part of which of a contact's tasks, for an export.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:CONCERNS]-(task:Task)
MATCH (task)<-[:PART_OF]-(session:Session)
WITH session, task
WHERE session.session_key > $after AND session.session_key <= $until
RETURN session.session_key AS from_id, task.task_key AS to_id
ORDER BY from_id, to_id
