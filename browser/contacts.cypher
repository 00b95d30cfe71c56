// Which contacts there are, and whose they are.
MATCH (agent:Agent)-[:KNOWS]->(contact:Contact)
RETURN agent.tenant AS tenant, agent.agent_id AS agent_id, contact.contact_id AS contact_id, contact.name AS name
ORDER BY tenant, agent_id, contact_id
LIMIT 200
