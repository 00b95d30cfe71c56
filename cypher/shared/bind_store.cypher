// Give an empty store the key that an export's ids were made with.
// mode: write
MATCH (store:Store {store_id: 'reconciler'})
SET store.claimed_at = $at, store.id_key = $id_key
RETURN store.id_key AS id_key
