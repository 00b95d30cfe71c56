// Note that the move is over: every fact has its vector in its final place.
// mode: write
MATCH (store:Store {store_id: 'reconciler'})
WHERE store.embedding_model = store.next_embedding_model
SET store.next_embedding_model = NULL, store.next_embedding_dimension = NULL
RETURN store.embedding_model AS embedding_model
