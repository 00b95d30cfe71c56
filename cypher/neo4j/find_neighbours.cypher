// The five nearest live facts of one contact by raw cosine, with the version they were seen at.
// vector.similarity.cosine answers (1 + cosine) / 2; the last step gives the raw cosine back.
// The version is read before the facts: a write in between then fails the version check.
// mode: read
// params: contact_key, embedding_model, embedding
// returns: version, fact_id, text, valid_from, cosine
MATCH (contact:Contact {contact_key: $contact_key})
WITH contact, contact.version AS version
MATCH (contact)<-[:ABOUT]-(fact:Fact)
WHERE fact.is_live AND fact.embedding_model = $embedding_model
WITH version, fact, vector.similarity.cosine(fact.embedding, $embedding) AS rescaled
ORDER BY rescaled DESC
LIMIT 5
RETURN version, fact.fact_id AS fact_id, fact.text AS text, fact.valid_from AS valid_from,
       2 * rescaled - 1 AS cosine
