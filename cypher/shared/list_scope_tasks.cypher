// All tasks for a contact, with the words that each holds, once for each of its sessions, and the id
// of the session that it goes on in, which it may not be part of yet.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:CONCERNS]-(task:Task)
OPTIONAL MATCH (task)<-[:PART_OF]-(session:Session)
RETURN task.task_key AS task_key, session.session_key AS session_key,
       task.session_id AS session_id, task.name AS name,
       task.goal AS goal, task.done AS done, task.decided AS decided, task.blocker AS blocker
