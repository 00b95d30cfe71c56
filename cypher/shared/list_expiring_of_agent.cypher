// As list_expiring, of all contacts of an agent that has many: the facts that expire are found in the whole store,
// since the links of each contact take longer to read than this column of all facts. Only ids go through the
// joins and the sort; then each fact is looked up.
// mode: read
MATCH (fact:Fact)
WHERE fact.expires_at <= $until AND (fact.state = 'live' OR fact.state = 'expired')
  AND (fact.expires_at > $now
       OR ($also_expired AND fact.category <> 'volatile' AND fact.valid_to IS NULL))
WITH fact
MATCH (fact)-[about:ABOUT]->(contact:Contact)
// embedded: join fact, about, contact
WITH fact, contact
MATCH (contact)<-[:KNOWS]-(agent:Agent {agent_key: $agent_key})
WITH contact.contact_key AS contact_key, contact.contact_id AS contact_id,
     fact.fact_id AS wanted_id, fact.expires_at AS expires_at
ORDER BY expires_at, contact_key, wanted_id
LIMIT $limit
MATCH (fact:Fact {fact_id: wanted_id})
RETURN contact_key, contact_id,
       // include: fact
