// A page of an agent's contacts, by id, each with the time of its last decision; without those that were merged
// into another.
// mode: read
// kept: until a write
MATCH (agent:Agent {agent_key: $agent_key})-[:KNOWS]->(contact:Contact)
WITH contact
WHERE contact.contact_id > $after AND coalesce(contact.absorbed_into, '') = ''
RETURN contact.contact_id AS contact_id, contact.last_decision_at AS last_decision_at
ORDER BY contact_id
LIMIT $limit
