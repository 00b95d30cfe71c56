// As list_contacts, all contacts of an agent that has many, also those that were merged into another.
// mode: read
MATCH (agent:Agent {agent_key: $agent_key})-[:KNOWS]->(contact:Contact)
RETURN contact.tenant AS tenant, contact.agent_id AS agent_id, contact.contact_id AS contact_id,
       contact.name AS name, contact.last_decision_at AS last_decision_at,
       coalesce(contact.recalls, 0) AS recalls, coalesce(contact.empty_recalls, 0) AS empty_recalls
