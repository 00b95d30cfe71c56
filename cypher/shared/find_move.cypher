// The model that the store is bound to, and the one that it moves to. The latter is null if it does not move,
// and equals the former if it has moved but some facts still keep their vector as the next model's.
// mode: read
MATCH (store:Store {store_id: 'reconciler'})
RETURN store.embedding_model AS embedding_model, store.embedding_dimension AS embedding_dimension,
       store.next_embedding_model AS next_embedding_model,
       store.next_embedding_dimension AS next_embedding_dimension
