// A page of the facts, of all of an agent's contacts, that contain two words in one place, the one said last first.
// They may be parts of longer words, or the same word: the caller checks for whole words. The words of all facts of
// the store are read first, in one pass: along the links it took twenty times as long. Only what is sorted by follows
// through the sorting.
// mode: read
MATCH (fact:Fact)-[about:ABOUT]->(contact:Contact)
WHERE fact.state IN ['live', 'expired'] AND contact.contact_key STARTS WITH ($agent_key + '/')
  AND (toLower(fact.text) CONTAINS $word AND toLower(fact.text) CONTAINS $other
       OR toLower(coalesce(fact.value, '')) CONTAINS $word
          AND toLower(coalesce(fact.value, '')) CONTAINS $other
       OR toLower(coalesce(fact.subject, '')) CONTAINS $word
          AND toLower(coalesce(fact.subject, '')) CONTAINS $other)
// embedded: join fact, about, contact
WITH contact.contact_id AS contact_id, fact.fact_id AS found_id, fact.last_confirmed_at AS found_at
ORDER BY found_at DESC, found_id
SKIP $offset LIMIT $limit
MATCH (fact:Fact {fact_id: found_id})
RETURN contact_id,
       // include: fact
ORDER BY last_confirmed_at DESC, fact_id
