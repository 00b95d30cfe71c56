// Cancel a move: the store stays with the model that it is bound to. No row if it does not move.
// mode: write
MATCH (store:Store {store_id: 'reconciler'})
WHERE store.next_embedding_model <> store.embedding_model
SET store.next_embedding_model = NULL, store.next_embedding_dimension = NULL
RETURN store.embedding_model AS embedding_model
