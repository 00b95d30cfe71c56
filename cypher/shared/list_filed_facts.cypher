// All facts of an agent, about any contact, that are filed under a subject, in the order of recording. A task
// asks for it once, at its start.
// mode: read
MATCH (agent:Agent {agent_key: $agent_key})-[:KNOWS]->(contact:Contact)<-[:ABOUT]-(fact:Fact)
WITH contact, fact
MATCH (fact)
WHERE fact.subject = $subject
RETURN contact.contact_id AS contact_id, contact.name AS contact_name,
       // include: fact
ORDER BY recorded_at, fact_id
