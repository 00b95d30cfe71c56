// Say what a task waits for; null where nothing holds it up any more.
// mode: write
// params: task_key, blocker, at
// returns: task_id, goal, state, session_id, done, decided, blocker, started_at, changed_at
MATCH (task:Task {task_key: $task_key})
SET task.changed_at = $at, task.blocker = $blocker
RETURN task.task_id AS task_id, task.goal AS goal, task.state AS state,
       task.session_id AS session_id, task.done AS done, task.decided AS decided,
       task.blocker AS blocker, task.started_at AS started_at, task.changed_at AS changed_at
