// Say what a task waits for; null where nothing holds it up any more. The first SET
// takes the lock, so that an erasure that takes the words away at the same time is seen.
// mode: write
MATCH (task:Task {task_key: $task_key})
SET task.name = task.name
WITH task
WHERE task.goal <> '[erased]'
SET task.changed_at = $at, task.blocker = $blocker
RETURN
       // include: task
