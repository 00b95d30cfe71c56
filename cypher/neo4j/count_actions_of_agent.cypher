// As count_actions, of all contacts of an agent that has many.
// mode: read
MATCH (agent:Agent {agent_key: $agent_key})-[:KNOWS]->(contact:Contact)<-[:`FOR`]-(decision:Decision)
RETURN contact.contact_key AS contact_key, decision.action AS action,
       decision.settles_id IS NOT NULL AND decision.answered_by IS NOT NULL AS is_answer,
       count(decision) AS decisions
