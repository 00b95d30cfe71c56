// Keep what was decided in a task, each once, after what was decided before. The first SET takes
// the lock, as with a subtask that is done.
// mode: write
// params: task_key, decided, at
// returns: task_id, goal, state, session_id, done, decided, blocker, started_at, changed_at
MATCH (task:Task {task_key: $task_key})
SET task.changed_at = $at
WITH task
UNWIND $decided AS each
WITH task, collect(CASE WHEN task.decided IS NULL OR NOT each IN task.decided THEN each END) AS new
SET task.decided = CASE WHEN task.decided IS NULL THEN new ELSE task.decided + new END
RETURN task.task_id AS task_id, task.goal AS goal, task.state AS state,
       task.session_id AS session_id, task.done AS done, task.decided AS decided,
       task.blocker AS blocker, task.started_at AS started_at, task.changed_at AS changed_at
