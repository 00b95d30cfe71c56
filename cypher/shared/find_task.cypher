// One task, as it stands.
// mode: read
MATCH (task:Task {task_key: $task_key})
RETURN
       // include: task
