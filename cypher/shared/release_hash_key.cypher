// Let the next one who hashes something bind the store to another key.
// mode: write
// params: at
// returns: hash_key_check
MATCH (store:Store {store_id: 'reconciler'})
SET store.claimed_at = $at, store.hash_key_check = NULL
RETURN store.hash_key_check AS hash_key_check
