// What the store was made with, and the key that ids are made of, which is shown to nobody; no row
// in a store that was never opened.
// mode: read
// params:
// returns: embedding_model, embedding_dimension, id_key
MATCH (store:Store {store_id: 'reconciler'})
RETURN store.embedding_model AS embedding_model, store.embedding_dimension AS embedding_dimension,
       store.id_key AS id_key
