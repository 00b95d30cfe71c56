// Keep vectors of the store's next model beside the present ones; no row for a fact that was erased
// meanwhile, and none at all if the move was cancelled. The first SET takes a fact's lock: only then is it
// sure whether an erasure came first. The procedure stores a vector in half the space of a SET.
// mode: write
MATCH (store:Store {store_id: 'reconciler'})
WHERE store.next_embedding_model = $next_model
UNWIND $rows AS row
MATCH (fact:Fact {fact_id: row.fact_id})
SET fact.next_embedding_model = $next_model
WITH fact, row
WHERE fact.state <> 'erased'
SET fact.next_embedding_bytes = row.embedding_bytes
WITH fact, row
CALL db.create.setNodeVectorProperty(fact, 'next_embedding', row.embedding)
RETURN fact.fact_id AS fact_id
