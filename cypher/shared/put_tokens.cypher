// Replace the document of tokens; no row if another process changed it meanwhile. The first SET takes the lock.
// mode: write
MATCH (store:Store {store_id: 'reconciler'})
SET store.claimed_at = store.claimed_at
WITH store
WHERE coalesce(store.tokens, '') = $before
SET store.tokens = $after
RETURN store.store_id AS store_id
