// As count_refusals, of all contacts of an agent that has many, without those that were merged into another.
// mode: read
MATCH (agent:Agent {agent_key: $agent_key})-[:KNOWS]->(contact:Contact)<-[:`FOR`]-(decision:Decision)
WHERE coalesce(contact.absorbed_into, '') = '' AND decision.action = 'REJECT'
RETURN contact.contact_id AS contact_id, decision.gate_reason AS reason, count(decision) AS refusals
ORDER BY contact_id, refusals DESC, reason
