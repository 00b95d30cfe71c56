// Mark a subtask as done, once. The first SET takes the lock, and only then is looked at what is
// done already: of two processes that mark at the same time neither loses the other's.
// mode: write
// params: task_key, subtask_id, at
// returns: task_id, goal, state, session_id, done, decided, blocker, started_at, changed_at
MATCH (task:Task {task_key: $task_key})
SET task.changed_at = $at
WITH task
SET task.done = CASE WHEN task.done IS NULL THEN [$subtask_id]
                     WHEN $subtask_id IN task.done THEN task.done
                     ELSE task.done + [$subtask_id] END
RETURN task.task_id AS task_id, task.goal AS goal, task.state AS state,
       task.session_id AS session_id, task.done AS done, task.decided AS decided,
       task.blocker AS blocker, task.started_at AS started_at, task.changed_at AS changed_at
