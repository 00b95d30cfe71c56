// As list_disputed, of all contacts of an agent that has many: the links are found in the whole store.
// mode: read
MATCH (new:Fact)-[conflict:CONFLICTS_WITH]->(old:Fact)
WITH DISTINCT new
MATCH (new)-[about:ABOUT]->(contact:Contact)
// embedded: join new, about, contact
WITH DISTINCT contact
MATCH (contact)<-[:KNOWS]-(agent:Agent {agent_key: $agent_key})
RETURN contact.contact_id AS contact_id
ORDER BY contact_id
