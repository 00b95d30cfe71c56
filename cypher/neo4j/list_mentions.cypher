// A page of the facts, of all of an agent's contacts, that contain a word, the one said last first. It may be
// part of a longer word: the caller checks for whole words.
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
