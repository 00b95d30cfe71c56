// As count_actions, of all contacts of an agent that has many: the links are read in one pass, and counted before
// the agent is looked for.
// mode: read
MATCH (contact:Contact)<-[:`FOR`]-(decision:Decision)
WITH contact, decision.action AS action,
     decision.settles_id IS NOT NULL AND decision.answered_by IS NOT NULL AS is_answer,
     count(decision) AS decisions
MATCH (contact)<-[:KNOWS]-(agent:Agent {agent_key: $agent_key})
RETURN contact.contact_key AS contact_key, action, is_answer, decisions
