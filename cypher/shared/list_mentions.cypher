// The facts of all contacts of an agent in which a word stands, the one said last first, a page at a
// time. Here it may be part of a longer word: whoever reads the rows looks at whole words.
// mode: read
MATCH (agent:Agent {agent_key: $agent_key})-[:KNOWS]->(contact:Contact)<-[:ABOUT]-(fact:Fact)
WITH contact, fact
MATCH (fact)
WHERE fact.state IN ['live', 'expired']
  AND (toLower(fact.text) CONTAINS $word OR toLower(coalesce(fact.value, '')) CONTAINS $word
       OR toLower(coalesce(fact.subject, '')) CONTAINS $word)
RETURN contact.contact_id AS contact_id,
       // include: fact
ORDER BY last_confirmed_at DESC, fact_id
SKIP $offset LIMIT $limit
