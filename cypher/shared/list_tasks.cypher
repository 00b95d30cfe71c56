// The tasks of some contacts, the last changed first.
// mode: read
MATCH (contact:Contact)<-[:CONCERNS]-(task:Task)
WHERE contact.contact_key IN $contact_keys AND task.state IN $states
RETURN contact.contact_key AS contact_key,
       // include: task
ORDER BY changed_at DESC, task_id
LIMIT $limit
