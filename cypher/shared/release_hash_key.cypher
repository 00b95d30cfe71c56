// Let the next host that hashes something bind the store to its key.
// mode: write
MATCH (store:Store {store_id: 'reconciler'})
SET store.claimed_at = $at, store.hash_key_check = NULL
RETURN store.hash_key_check AS hash_key_check
