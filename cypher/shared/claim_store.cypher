// Bind a new store to the model that fills it; a store that is bound already stays as it is.
// The first SET takes the lock, so that of two claims at once the second sees the first.
// mode: write
// params: embedding_model, at
// returns: embedding_model, embedding_dimension
MERGE (store:Store {store_id: 'reconciler'})
SET store.claimed_at = $at
WITH store
SET store.embedding_model = coalesce(store.embedding_model, $embedding_model)
RETURN store.embedding_model AS embedding_model, store.embedding_dimension AS embedding_dimension
