// A page of a contact's facts as they are kept, for an export. A vector is sent where it is asked
// for, and then once: as bytes, or as the list of numbers that older facts have alone.
// mode: read
// params: contact_key, after, limit, with_vectors
// returns: node_id, node
MATCH (contact:Contact {contact_key: $contact_key})<-[:ABOUT]-(fact:Fact)
WHERE fact.fact_id > $after
WITH fact
ORDER BY fact.fact_id
LIMIT $limit
WITH fact.fact_id AS node_id, fact {
  .*,
  embedding_bytes: CASE WHEN $with_vectors THEN fact.embedding_bytes END,
  embedding: CASE WHEN $with_vectors AND fact.embedding_bytes IS NULL THEN fact.embedding END,
  next_embedding_bytes: NULL,
  next_embedding: NULL
} AS node
RETURN node_id, node
ORDER BY node_id
