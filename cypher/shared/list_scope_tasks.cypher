// All tasks for a contact, with the words in each, one row for each of its sessions. The row also has the id
// of the session that the task continues in, which may not be part of it yet.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:CONCERNS]-(task:Task)
OPTIONAL MATCH (task)<-[:PART_OF]-(session:Session)
RETURN task.task_key AS task_key, session.session_key AS session_key,
       task.session_id AS session_id, task.name AS name,
       task.goal AS goal, task.done AS done, task.decided AS decided, task.blocker AS blocker
