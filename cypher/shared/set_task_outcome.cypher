// Say which decision was made about what came of a task.
// mode: write
MATCH (task:Task {task_key: $task_key})
SET task.outcome_id = $outcome_id, task.changed_at = $at
RETURN
       // include: task
