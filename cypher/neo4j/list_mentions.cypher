// A page of the facts, of all of an agent's contacts, that contain two words in one place, the one said last first.
// They may be parts of longer words, or the same word: the caller checks for whole words.
// mode: read
MATCH (agent:Agent {agent_key: $agent_key})-[:KNOWS]->(contact:Contact)<-[:ABOUT]-(fact:Fact)
WITH contact, fact
MATCH (fact)
WHERE fact.state IN ['live', 'expired']
  AND (toLower(fact.text) CONTAINS $word AND toLower(fact.text) CONTAINS $other
       OR toLower(coalesce(fact.value, '')) CONTAINS $word
          AND toLower(coalesce(fact.value, '')) CONTAINS $other
       OR toLower(coalesce(fact.subject, '')) CONTAINS $word
          AND toLower(coalesce(fact.subject, '')) CONTAINS $other)
RETURN contact.contact_id AS contact_id,
       // include: fact
ORDER BY last_confirmed_at DESC, fact_id
SKIP $offset LIMIT $limit
