// What the store was made with, the key that ids are made of, which is shown to nobody, and what tells
// whether a host has the key of the hashes; no row in a store that was never opened.
// mode: read
MATCH (store:Store {store_id: 'reconciler'})
RETURN store.embedding_model AS embedding_model, store.embedding_dimension AS embedding_dimension,
       store.id_key AS id_key, store.hash_key_check AS hash_key_check
