// Give decisions and erasures their places. No row means that another reader gave places first. The first SET
// takes the store's lock; a decision that is committed only now gets its place from the next reader. An agent's
// key is the beginning of its contacts' keys.
// mode: write
MATCH (store:Store {store_id: 'reconciler'})
SET store.claimed_at = store.claimed_at
WITH store
WHERE coalesce(store.last_place, 0) = $last_place
SET store.last_place = $next_place
WITH store
CALL () {
  UNWIND $changes AS each
  MATCH (change:Decision {decision_id: each.decision_id})
  WHERE change.unplaced
  WITH each, change, split(change.contact_key, '/') AS parts
  SET change.place = each.place, change.agent_key = parts[0] + '/' + parts[1]
  REMOVE change.unplaced
}
CALL () {
  UNWIND $changes AS each
  MATCH (change:Erasure {erasure_id: each.decision_id})
  WHERE change.unplaced
  WITH each, change, split(change.contact_key, '/') AS parts
  SET change.place = each.place, change.agent_key = parts[0] + '/' + parts[1]
  REMOVE change.unplaced
}
RETURN store.last_place AS last_place
