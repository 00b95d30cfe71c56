// Bind a new store to the model that fills it, and give it the key that its ids are made with; an earlier
// binding stays. The first SET takes the lock, so that the second of two claims sees the first, and returns
// its binding.
// mode: write
MERGE (store:Store {store_id: 'reconciler'})
SET store.claimed_at = $at
WITH store
SET store.embedding_model = coalesce(store.embedding_model, $embedding_model),
    store.id_key = coalesce(store.id_key, $id_key)
RETURN store.embedding_model AS embedding_model, store.embedding_dimension AS embedding_dimension,
       store.id_key AS id_key
