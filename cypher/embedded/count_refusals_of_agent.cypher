// As count_refusals, of all contacts of an agent that has many, without those that were merged into another: the
// refusals are found in the whole store.
// mode: read
MATCH (decision:Decision)
WHERE decision.action = 'REJECT'
WITH decision
MATCH (decision)-[refused:`FOR`]->(contact:Contact)
// embedded: join decision, refused, contact
WITH decision, contact
WHERE coalesce(contact.absorbed_into, '') = ''
WITH decision, contact
MATCH (contact)<-[:KNOWS]-(agent:Agent {agent_key: $agent_key})
RETURN contact.contact_id AS contact_id, decision.gate_reason AS reason, count(decision) AS refusals
ORDER BY contact_id, refusals DESC, reason
