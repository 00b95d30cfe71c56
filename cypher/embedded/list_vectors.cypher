// The vectors of all facts of a contact, of those too that have ended, for what was held then.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:ABOUT]-(fact:Fact)
WITH fact
MATCH (fact)
WHERE fact.embedding_model = $embedding_model AND fact.embedding_bytes IS NOT NULL
RETURN fact.fact_id AS fact_id, fact.embedding_bytes AS embedding_bytes
