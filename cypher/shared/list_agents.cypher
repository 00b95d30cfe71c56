// All agents of the store, of every tenant.
// mode: read
MATCH (agent:Agent)
RETURN agent.tenant AS tenant, agent.agent_id AS agent_id
ORDER BY tenant, agent_id
