// All live facts, without expired ones, of one contact with their raw cosine to a query, nearest first.
// vector.similarity.cosine answers (1 + cosine) / 2; the last step gives the raw cosine back.
// mode: read
// params: contact_key, embedding_model, embedding, now
// returns: cosine, columns of fact
MATCH (contact:Contact {contact_key: $contact_key})<-[:ABOUT]-(fact:Fact)
WHERE fact.is_live AND fact.embedding_model = $embedding_model
  AND (fact.expires_at IS NULL OR fact.expires_at > $now)
WITH fact, vector.similarity.cosine(fact.embedding, $embedding) AS rescaled
RETURN 2 * rescaled - 1 AS cosine,
       // include: fact
ORDER BY cosine DESC
