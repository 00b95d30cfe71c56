// Note that the store has seen the migrations up to this version; it never goes back.
// mode: write
// params: schema_version
// returns: schema_version
MERGE (store:Store {store_id: 'reconciler'})
SET store.schema_version = CASE WHEN coalesce(store.schema_version, 0) > $schema_version
                                THEN store.schema_version ELSE $schema_version END
RETURN store.schema_version AS schema_version
