// The tokens of the servers, as one document with hashes only. No row if the store was never opened.
// mode: read
MATCH (store:Store {store_id: 'reconciler'})
RETURN store.tokens AS tokens
