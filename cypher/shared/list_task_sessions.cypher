// The sessions of a task, in the order in which they began.
// mode: read
MATCH (task:Task {task_key: $task_key})<-[part:PART_OF]-(session:Session)
// embedded: join task, part, session
RETURN session.session_id AS session_id
ORDER BY session.started_at, session_id
