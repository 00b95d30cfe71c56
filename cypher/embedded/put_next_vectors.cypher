// Keep vectors of the store's next model beside the present ones; no row for a fact that was erased
// meanwhile, and none at all if the move was cancelled.
// mode: write
// script for each: row of rows
MATCH (fact:Fact {fact_id: $row.fact_id}), (store:Store {store_id: 'reconciler'})
WHERE store.next_embedding_model = $next_model AND fact.state <> 'erased'
SET fact.next_embedding_model = $next_model, fact.next_embedding_bytes = $row.embedding_bytes,
    fact.next_embedding = $row.embedding
RETURN fact.fact_id AS fact_id
