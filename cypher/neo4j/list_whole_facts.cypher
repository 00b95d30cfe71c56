// A page of some contacts' stored facts, for an export. A vector is sent only on request, as bytes.
// mode: read
MATCH (contact:Contact)<-[:ABOUT]-(fact:Fact)
WHERE contact.contact_key IN $contact_keys AND fact.fact_id > $after
WITH contact.contact_key AS contact_key, fact
ORDER BY fact.fact_id
LIMIT $limit
WITH contact_key, fact.fact_id AS node_id, fact {
  .*,
  embedding_bytes: CASE WHEN $with_vectors THEN fact.embedding_bytes END,
  embedding: NULL,
  next_embedding_bytes: NULL,
  next_embedding: NULL
} AS node
RETURN contact_key, node_id, node
ORDER BY node_id
