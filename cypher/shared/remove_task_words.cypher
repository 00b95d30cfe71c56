// Remove the words of tasks; a task that had not ended is ended.
// mode: write
UNWIND $task_keys AS task_key
MATCH (task:Task {task_key: task_key})
SET task.name = '[erased]', task.goal = '[erased]', task.done = NULL, task.decided = NULL,
    task.blocker = NULL,
    task.state = CASE WHEN task.state = 'success' THEN 'success' ELSE 'failure' END
RETURN task.task_key AS task_key
