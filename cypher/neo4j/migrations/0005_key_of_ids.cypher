// The key that ids are made of; `claim_store` draws it once. A property needs no column here, so this
// changes nothing: the version alone keeps older code, which would make other ids, out.
MATCH (store:Store {store_id: 'reconciler'}) WHERE store.id_key IS NULL
SET store.embedding_model = store.embedding_model;
