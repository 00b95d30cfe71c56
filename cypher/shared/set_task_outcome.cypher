// Record the decision about a task's outcome.
// mode: write
MATCH (task:Task {task_key: $task_key})
SET task.outcome_id = $outcome_id, task.changed_at = $at
RETURN
       // include: task
