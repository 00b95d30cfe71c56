// The PART_OF links from sessions to a contact's tasks, for an export.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[concerns:CONCERNS]-(task:Task)
      <-[part:PART_OF]-(session:Session)
// embedded: join contact, concerns, task, part, session
WITH session, task
WHERE session.session_key > $after AND session.session_key <= $until
RETURN session.session_key AS from_id, task.task_key AS to_id
ORDER BY from_id, to_id
