// Give decisions and erasures their places. No row means that another reader gave places first.
// mode: write
MATCH (store:Store {store_id: 'reconciler'})
WHERE coalesce(store.last_place, 0) = $last_place
SET store.last_place = $next_place
RETURN store.last_place AS last_place;

UNWIND $changes AS each
WITH each, each.decision_id AS decision_id
MATCH (decision:Decision {decision_id: decision_id})
SET decision.place = each.place;

UNWIND $changes AS each
WITH each, each.decision_id AS decision_id
MATCH (erasure:Erasure {erasure_id: decision_id})
SET erasure.place = each.place
