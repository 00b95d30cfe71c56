// The migrations that ran on the store; no row if the store was never opened.
// mode: read
MATCH (store:Store {store_id: 'reconciler'})
RETURN store.schema_version AS schema_version
