// Bind the store to the key of the first host that hashes something; an earlier binding stays. The first SET
// takes the lock, so that the second of two claims sees the first.
// mode: write
MATCH (store:Store {store_id: 'reconciler'})
SET store.claimed_at = $at
WITH store
SET store.hash_key_check = coalesce(store.hash_key_check, $check)
RETURN store.hash_key_check AS hash_key_check
