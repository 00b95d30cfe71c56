// Facts of any contact of an agent by their ids.
// mode: read
// params: agent_key, fact_ids
// script for each: fact_id of fact_ids
// returns: columns of fact
MATCH (fact:Fact {fact_id: $fact_id})-[:ABOUT]->(contact:Contact)
WITH contact, fact
MATCH (contact)<-[:KNOWS]-(agent:Agent {agent_key: $agent_key})
RETURN
       // include: fact
