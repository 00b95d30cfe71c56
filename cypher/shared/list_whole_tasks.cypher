// A page of some contacts' stored tasks, for an export.
// mode: read
MATCH (contact:Contact)<-[:CONCERNS]-(task:Task)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_key AS contact_key, task
MATCH (task)
WHERE task.task_key > $after
RETURN contact_key, task.task_key AS node_id, task AS node
ORDER BY node_id
LIMIT $limit
