// The oldest decisions and erasures without a place in the order of changes, and the last place that was given.
// mode: read
MATCH (store:Store {store_id: 'reconciler'})
WITH coalesce(store.last_place, 0) AS last_place
MATCH (change:Decision:Erasure) WHERE change.place IS NULL
RETURN last_place, coalesce(change.decision_id, change.erasure_id) AS decision_id,
       coalesce(change.at, change.started_at) AS at
ORDER BY at, decision_id
LIMIT $limit
