// Record what a task waits for; null if nothing blocks it any more. The first SET takes the lock, so that a
// simultaneous erasure of its words is seen.
// mode: write
MATCH (task:Task {task_key: $task_key})
SET task.name = task.name
WITH task
WHERE task.goal <> '[erased]'
SET task.changed_at = $at, task.blocker = $blocker
RETURN
       // include: task
