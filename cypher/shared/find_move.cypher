// The model that the store is bound to, and the one that it moves to: null where it does not move, and
// the same where it has moved and some facts still keep their vector under the name of the next one.
// mode: read
MATCH (store:Store {store_id: 'reconciler'})
RETURN store.embedding_model AS embedding_model, store.embedding_dimension AS embedding_dimension,
       store.next_embedding_model AS next_embedding_model,
       store.next_embedding_dimension AS next_embedding_dimension
