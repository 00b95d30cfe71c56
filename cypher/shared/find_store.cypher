// What the store was made with; no row in a store that was never opened.
// mode: read
// params:
// returns: embedding_model, embedding_dimension
MATCH (store:Store {store_id: 'reconciler'})
RETURN store.embedding_model AS embedding_model, store.embedding_dimension AS embedding_dimension
