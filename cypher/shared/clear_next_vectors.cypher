// Remove the next model's vectors from facts, after a move was cancelled.
// mode: write
UNWIND $fact_ids AS fact_id
MATCH (fact:Fact {fact_id: fact_id})
SET fact.next_embedding = NULL, fact.next_embedding_bytes = NULL, fact.next_embedding_model = NULL
RETURN fact.fact_id AS fact_id
