// Note that all facts keep their vector where it belongs.
// mode: write
MATCH (store:Store {store_id: 'reconciler'})
WHERE store.embedding_model = store.next_embedding_model
SET store.next_embedding_model = NULL, store.next_embedding_dimension = NULL
RETURN store.embedding_model AS embedding_model
