// Which migrations the store has seen; no row in a store that was never opened.
// mode: read
MATCH (store:Store {store_id: 'reconciler'})
RETURN store.schema_version AS schema_version
