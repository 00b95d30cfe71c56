// All facts of an agent, about whichever contact, that are filed under a subject, in the order in which
// they were recorded. A task asks for it once, at its start.
// mode: read
// params: agent_key, subject
// returns: columns of fact
MATCH (agent:Agent {agent_key: $agent_key})-[:KNOWS]->(contact:Contact)<-[:ABOUT]-(fact:Fact)
WITH fact
MATCH (fact)
WHERE fact.subject = $subject
RETURN
       // include: fact
ORDER BY recorded_at, fact_id
