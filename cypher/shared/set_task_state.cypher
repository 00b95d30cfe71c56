// Change a task's state, unless it has ended in another way; no row means that it has. The first SET, which
// changes nothing, takes the lock: if two processes end the task, the first one's end counts.
// mode: write
MATCH (task:Task {task_key: $task_key})
SET task.name = task.name
WITH task
WHERE NOT task.state IN ['success', 'failure'] OR task.state = $state
SET task.state = $state, task.session_id = $session_id, task.changed_at = $at
RETURN
       // include: task
