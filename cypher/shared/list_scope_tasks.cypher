// All tasks for a contact, with the words that each holds, once for each of its sessions.
// mode: read
// params: contact_key
// returns: task_key, session_key, name, goal, done, decided, blocker
MATCH (contact:Contact {contact_key: $contact_key})<-[:CONCERNS]-(task:Task)
OPTIONAL MATCH (task)<-[:PART_OF]-(session:Session)
RETURN task.task_key AS task_key, session.session_key AS session_key, task.name AS name,
       task.goal AS goal, task.done AS done, task.decided AS decided, task.blocker AS blocker
