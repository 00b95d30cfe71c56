// The facts of some contacts that are nearest to a vector; exact, because it compares each fact.
// vector.similarity.cosine returns (1 + cosine) / 2; this restores the raw cosine.
// mode: read
MATCH (contact:Contact)<-[:ABOUT]-(fact:Fact)
WHERE contact.contact_key IN $contact_keys
  AND fact.state IN ['live', 'expired']
  AND (fact.embedding_model = $embedding_model OR fact.next_embedding_model = $embedding_model)
WITH fact,
     CASE WHEN fact.embedding_model = $embedding_model
          THEN fact.embedding ELSE fact.next_embedding END AS own
RETURN fact.fact_id AS fact_id, 2 * vector.similarity.cosine(own, $embedding) - 1 AS cosine
ORDER BY cosine DESC, fact_id LIMIT $limit
