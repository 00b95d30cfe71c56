// Bind a new store to the model that fills it, and give it the key that ids are made of; what a store
// is bound to already stays as it is. The first SET takes the lock, so that of two claims at once the
// second sees the first, and returns what the first one set.
// mode: write
MERGE (store:Store {store_id: 'reconciler'})
SET store.claimed_at = $at
WITH store
SET store.embedding_model = coalesce(store.embedding_model, $embedding_model),
    store.id_key = coalesce(store.id_key, $id_key)
RETURN store.embedding_model AS embedding_model, store.embedding_dimension AS embedding_dimension,
       store.id_key AS id_key
