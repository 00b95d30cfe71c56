// The store's own record: what it was made with, the key of its ids (never shown), and the check of a host's
// hash key. No row if the store was never opened.
// mode: read
MATCH (store:Store {store_id: 'reconciler'})
RETURN store.embedding_model AS embedding_model, store.embedding_dimension AS embedding_dimension,
       store.id_key AS id_key, store.hash_key_check AS hash_key_check
