// The task of that key, begun now unless it is there already: then it stays as it is.
// A contact that is being erased gives no row, and neither does a session that was erased: they take
// no task. The lock comes first, so that an erasure that is marked at the same time is seen, or sees
// this.
// mode: write
MERGE (contact:Contact {contact_key: $contact_key})
  ON CREATE SET contact.tenant = $tenant, contact.agent_id = $agent_id,
                contact.contact_id = $contact_id, contact.name = $contact_id,
                contact.version = 0
SET contact.name = contact.name
WITH contact
WHERE NOT coalesce(contact.is_erasing, false)
  AND NOT EXISTS { MATCH (session:Session {session_key: $session_key})
                   WHERE session.erased_at IS NOT NULL }
MERGE (agent:Agent {agent_key: $agent_key})
  ON CREATE SET agent.tenant = $tenant, agent.agent_id = $agent_id
MERGE (agent)-[:KNOWS]->(contact)
MERGE (task:Task {task_key: $task_key})
  ON CREATE SET task.task_id = $task_id, task.name = $name, task.goal = $goal,
                task.state = $state, task.session_id = $session_id, task.started_at = $at,
                task.changed_at = $at
MERGE (task)-[:CONCERNS]->(contact)
RETURN
       // include: task
