// The task with this key, created now unless it exists; an existing task stays unchanged. A contact that is
// being erased, or an erased session, takes no task and gives no row. The lock comes first, so that this
// write and the mark of a simultaneous erasure see each other.
// mode: write
MERGE (contact:Contact {contact_key: $contact_key})
  ON CREATE SET contact.tenant = $tenant, contact.agent_id = $agent_id,
                contact.contact_id = $contact_id, contact.name = $contact_id,
                contact.version = 0
SET contact.name = contact.name
WITH contact
WHERE NOT coalesce(contact.is_erasing, false) AND coalesce(contact.absorbed_into, '') = ''
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
