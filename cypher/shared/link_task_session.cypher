// Say that a session is part of a task. The session is made where it is not there yet, so that no
// turn that is kept in it afterwards can be lost to the task. One that was erased takes no task.
// mode: write
MATCH (task:Task {task_key: $task_key})
MERGE (session:Session {session_key: $session_key})
  ON CREATE SET session.session_id = $session_id, session.channel = $channel,
                session.started_at = $at, session.ended_at = $at
WITH task, session
WHERE session.erased_at IS NULL
MERGE (session)-[:PART_OF]->(task)
RETURN session.session_id AS session_id
