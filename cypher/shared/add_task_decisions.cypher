// Append decisions to a task, each once. The first SET takes the lock, as in add_done_subtask.
// mode: write
MATCH (task:Task {task_key: $task_key})
SET task.name = task.name
WITH task
WHERE task.goal <> '[erased]'
SET task.changed_at = $at
WITH task
UNWIND $decided AS each
WITH task, collect(CASE WHEN task.decided IS NULL OR NOT each IN task.decided THEN each END) AS new
SET task.decided = CASE WHEN task.decided IS NULL THEN new ELSE task.decided + new END
RETURN
       // include: task
