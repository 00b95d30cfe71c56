// One task in its present state.
// mode: read
MATCH (task:Task {task_key: $task_key})
RETURN
       // include: task
