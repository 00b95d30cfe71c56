// As list_disputed, of all contacts of an agent that has many: the links are found in the whole store.
// mode: read
MATCH (new:Fact)-[conflict:CONFLICTS_WITH]->(old:Fact)
WITH new, conflict, old
WHERE new.state IN ['live', 'expired', 'archived'] AND old.state IN ['live', 'expired', 'archived']
WITH new, conflict, old
MATCH (new)-[about:ABOUT]->(contact:Contact)
// embedded: join new, about, contact
WITH contact, new, conflict, old
MATCH (contact)<-[:KNOWS]-(agent:Agent {agent_key: $agent_key})
RETURN contact.contact_id AS contact_id, new.fact_id AS new_id, old.fact_id AS old_id, conflict.decided_by AS decided_by,
       conflict.reason AS reason, conflict.at AS at
