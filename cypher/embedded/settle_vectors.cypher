// Move vectors of the store's model to their final place. Here switch_model leaves none elsewhere, so usually
// no fact is named; a named one is corrected as far as its columns' types allow.
// mode: write
UNWIND $fact_ids AS fact_id
MATCH (fact:Fact {fact_id: fact_id})
WHERE fact.next_embedding_model = $embedding_model
SET fact.embedding_bytes = fact.next_embedding_bytes, fact.embedding_model = $embedding_model,
    fact.next_embedding_bytes = NULL, fact.next_embedding_model = NULL
RETURN fact.fact_id AS fact_id
