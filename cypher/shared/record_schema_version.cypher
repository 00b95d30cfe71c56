// Note the version up to which migrations ran, which never falls, and the length of the vectors, for which
// one engine's tables are made.
// mode: write
MERGE (store:Store {store_id: 'reconciler'})
SET store.schema_version = CASE WHEN coalesce(store.schema_version, 0) > $schema_version
                                THEN store.schema_version ELSE $schema_version END,
    store.embedding_dimension = coalesce(store.embedding_dimension, $embedding_dimension)
RETURN store.schema_version AS schema_version
