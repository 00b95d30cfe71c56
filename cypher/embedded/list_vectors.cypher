// The vectors of all facts of some contacts, ended ones included.
// mode: read
MATCH (contact:Contact)<-[:ABOUT]-(fact:Fact)
WHERE contact.contact_key IN $contact_keys
WITH fact
MATCH (fact)
WHERE fact.embedding_model = $embedding_model AND fact.embedding_bytes IS NOT NULL
RETURN fact.fact_id AS fact_id, fact.embedding_bytes AS embedding_bytes
