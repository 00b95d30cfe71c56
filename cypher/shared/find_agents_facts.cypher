// Facts of any contact of an agent by their ids, each with its contact's id. A contact's key begins with its agent's:
// the link KNOWS took the embedded engine 4 ms a fact, if the agent has 10,000 contacts.
// mode: read
// script for each: fact_id of fact_ids
MATCH (fact:Fact {fact_id: $fact_id})-[:ABOUT]->(contact:Contact)
WITH contact, fact
WHERE contact.contact_key STARTS WITH ($agent_key + '/')
RETURN contact.contact_id AS contact_id,
       // include: fact
