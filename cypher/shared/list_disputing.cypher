// An agent's contacts with a pair of facts that were ever in dispute, in order of id. No column of a fact is read,
// so it is a tenth of list_disputed_of_agent.
// mode: read
MATCH (new:Fact)-[conflict:CONFLICTS_WITH]->(old:Fact)
WITH DISTINCT new
MATCH (new)-[about:ABOUT]->(contact:Contact)
// embedded: join new, about, contact
WITH DISTINCT contact
MATCH (contact)<-[:KNOWS]-(agent:Agent {agent_key: $agent_key})
RETURN contact.contact_id AS contact_id
ORDER BY contact_id
