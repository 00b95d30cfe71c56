// A decision's record is one property from here on, and vectors lie as bytes too. Neither needs a
// schema on this engine; the step is counted, so that older code leaves the store alone.
MATCH (store:Store) SET store.schema_version = store.schema_version;
