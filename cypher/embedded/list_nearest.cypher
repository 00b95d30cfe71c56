// The facts of some contacts that are nearest to a vector; exact, because it compares each fact.
// mode: read
MATCH (contact:Contact)<-[:ABOUT]-(fact:Fact)
WHERE contact.contact_key IN $contact_keys
WITH fact
MATCH (fact)
WHERE fact.state IN ['live', 'expired'] AND fact.embedding_model = $embedding_model
RETURN fact.fact_id AS fact_id, array_cosine_similarity(fact.embedding, $embedding) AS cosine
ORDER BY cosine DESC, fact_id LIMIT $limit
