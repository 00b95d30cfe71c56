// A page of a contact's tasks as they are kept, for an export.
// mode: read
// params: contact_key, after, limit
// returns: node_id, node
MATCH (contact:Contact {contact_key: $contact_key})<-[:CONCERNS]-(task:Task)
WITH task
MATCH (task)
WHERE task.task_key > $after
RETURN task.task_key AS node_id, task AS node
ORDER BY node_id
LIMIT $limit
