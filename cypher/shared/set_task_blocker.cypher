// Say what a task waits for; null where nothing holds it up any more.
// mode: write
// params: task_key, blocker, at
// returns: columns of task
MATCH (task:Task {task_key: $task_key})
WHERE task.goal <> '[erased]'
SET task.changed_at = $at, task.blocker = $blocker
RETURN
       // include: task
