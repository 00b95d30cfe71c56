// What tells whether a host has the key that the hashes in the store are made with; whoever first
// needs that key writes it. A property needs no column here, so this changes nothing: the version
// alone keeps older code out, which would take any key.
MATCH (store:Store {store_id: 'reconciler'}) WHERE store.hash_key_check IS NULL
SET store.embedding_model = store.embedding_model;
