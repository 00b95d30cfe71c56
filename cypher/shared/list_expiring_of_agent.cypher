// The contacts of the first rows of list_expiring, of all contacts of an agent that has many: the facts that expire
// are found in the whole store, since the links of each contact take longer to read than these columns of all facts.
// An id of every fact would take as long as all of them.
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
RETURN contact.contact_id AS contact_id, fact.expires_at AS expires_at
ORDER BY expires_at, contact.contact_key
LIMIT $limit
