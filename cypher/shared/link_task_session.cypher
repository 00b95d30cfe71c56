// Make a session part of a task. A missing session is created, so that the task sees all turns that are kept
// in it later. An erased session takes no task.
// mode: write
MATCH (task:Task {task_key: $task_key})
MERGE (session:Session {session_key: $session_key})
  ON CREATE SET session.session_id = $session_id, session.channel = $channel,
                session.started_at = $at, session.ended_at = $at
WITH task, session
WHERE session.erased_at IS NULL
MERGE (session)-[:PART_OF]->(task)
RETURN session.session_id AS session_id
