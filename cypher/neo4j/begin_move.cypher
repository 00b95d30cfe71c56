// Begin to move the store to another model; no row if it moves already, or is bound to that model. The first
// SET takes the lock, so that the second of two simultaneous calls sees the first.
// mode: write
MATCH (store:Store {store_id: 'reconciler'})
SET store.claimed_at = store.claimed_at
WITH store
WHERE store.next_embedding_model IS NULL AND store.embedding_model <> $next_model
SET store.next_embedding_model = $next_model, store.next_embedding_dimension = $dimension
RETURN store.embedding_model AS embedding_model
