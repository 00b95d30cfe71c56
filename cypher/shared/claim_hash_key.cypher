// Bind the store to the key of whoever first hashes something; what it is bound to already stays. The
// first SET takes the lock, so that of two claims at once the second sees the first.
// mode: write
MATCH (store:Store {store_id: 'reconciler'})
SET store.claimed_at = $at
WITH store
SET store.hash_key_check = coalesce(store.hash_key_check, $check)
RETURN store.hash_key_check AS hash_key_check
