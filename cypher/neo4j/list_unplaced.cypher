// The oldest decisions and erasures without a place in the order of changes, and the last place that was
// given. That is read first: if it is given again meanwhile, the write finds another one.
// mode: read
MATCH (store:Store {store_id: 'reconciler'})
WITH coalesce(store.last_place, 0) AS last_place
CALL () {
  MATCH (change:Decision) WHERE change.unplaced = true
  RETURN change.decision_id AS decision_id, change.at AS at
  UNION ALL
  MATCH (change:Erasure) WHERE change.unplaced = true
  RETURN change.erasure_id AS decision_id, change.started_at AS at
}
RETURN last_place, decision_id, at
ORDER BY at, decision_id
LIMIT $limit
