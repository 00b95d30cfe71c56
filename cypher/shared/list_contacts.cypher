// The contacts of an agent, by id, with what is known about each in numbers.
// mode: read
// params: agent_key
// returns: tenant, agent_id, contact_id, name, live_facts, facts, last_decision_at
MATCH (agent:Agent {agent_key: $agent_key})-[:KNOWS]->(contact:Contact)
OPTIONAL MATCH (contact)<-[:ABOUT]-(fact:Fact)
WITH contact, count(fact) AS facts, count(CASE WHEN fact.is_live THEN 1 END) AS live_facts
RETURN contact.tenant AS tenant, contact.agent_id AS agent_id, contact.contact_id AS contact_id,
       contact.name AS name, live_facts, facts, contact.last_decision_at AS last_decision_at
ORDER BY contact_id
