// One task, as it stands.
// mode: read
// params: task_key
// returns: columns of task
MATCH (task:Task {task_key: $task_key})
RETURN
       // include: task
