// The vectors of all facts of some contacts, ended ones included. Soon after the store moved to another
// model, a vector may still be stored as the next model's.
// mode: read
MATCH (contact:Contact)<-[:ABOUT]-(fact:Fact)
WHERE contact.contact_key IN $contact_keys
  AND (fact.embedding_model = $embedding_model OR fact.next_embedding_model = $embedding_model)
WITH fact, fact.embedding_model = $embedding_model AS is_settled
WITH fact.fact_id AS fact_id,
     CASE WHEN is_settled THEN fact.embedding_bytes ELSE fact.next_embedding_bytes END
       AS embedding_bytes
WHERE embedding_bytes IS NOT NULL
RETURN fact_id, embedding_bytes
