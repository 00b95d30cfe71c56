// Facts of any contact of an agent by their ids, each with its contact's id.
// mode: read
// script for each: fact_id of fact_ids
MATCH (fact:Fact {fact_id: $fact_id})-[:ABOUT]->(contact:Contact)
WITH contact, fact
MATCH (contact)<-[:KNOWS]-(agent:Agent {agent_key: $agent_key})
RETURN contact.contact_id AS contact_id,
       // include: fact
