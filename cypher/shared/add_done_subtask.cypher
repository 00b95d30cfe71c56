// Mark a subtask as done, once. The first SET takes the lock. Only after it the query reads which subtasks
// are done, and whether the words were erased, so two processes that mark at the same time both keep their
// mark.
// mode: write
MATCH (task:Task {task_key: $task_key})
SET task.name = task.name
WITH task
WHERE task.goal <> '[erased]'
SET task.changed_at = $at
WITH task
SET task.done = CASE WHEN task.done IS NULL THEN [$subtask_id]
                     WHEN $subtask_id IN task.done THEN task.done
                     ELSE task.done + [$subtask_id] END
RETURN
       // include: task
