// Begin or continue to restore a contact. A new contact starts at version -1, and each page counts it down,
// so that no page is written twice. An existing contact keeps its version and name.
// mode: write
MERGE (contact:Contact {contact_key: $contact_key})
  ON CREATE SET contact.tenant = $tenant, contact.agent_id = $agent_id,
                contact.contact_id = $contact_id, contact.name = $name, contact.version = -1
MERGE (agent:Agent {agent_key: $agent_key})
  ON CREATE SET agent.tenant = $tenant, agent.agent_id = $agent_id, agent.name = $agent_id
MERGE (agent)-[:KNOWS]->(contact)
RETURN contact.version AS version, contact.name AS name,
       contact.last_decision_at AS last_decision_at
