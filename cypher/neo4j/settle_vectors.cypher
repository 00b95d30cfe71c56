// Move vectors of the store's model, kept beside those of the model before, to their final place. The first
// SET takes the fact's lock; only then does the query see whether another writer moved the vector or an
// erasure removed it.
// mode: write
UNWIND $fact_ids AS fact_id
MATCH (fact:Fact {fact_id: fact_id})
SET fact.embedding_model = $embedding_model
WITH fact
WHERE fact.next_embedding_model = $embedding_model
SET fact.embedding = NULL, fact.embedding_bytes = fact.next_embedding_bytes
WITH fact
CALL (fact) {
  WITH fact
  WHERE fact.next_embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(fact, 'embedding', fact.next_embedding)
}
SET fact.next_embedding = NULL, fact.next_embedding_bytes = NULL, fact.next_embedding_model = NULL
RETURN fact.fact_id AS fact_id
