// A task in its present state.
task.task_id AS task_id, task.goal AS goal, task.state AS state,
task.session_id AS session_id, task.done AS done, task.decided AS decided,
task.blocker AS blocker, task.outcome_id AS outcome_id, task.started_at AS started_at, task.changed_at AS changed_at
