// Record an erasure's progress. Its end removes its target's words and its plan. No row means that it is
// done, so a late earlier step does not start it again.
// mode: write
MATCH (erasure:Erasure {erasure_id: $erasure_id})-[:ERASES]->(contact:Contact)
SET erasure.state = erasure.state
WITH erasure, contact
WHERE erasure.state <> 'done'
SET erasure.state = $state, erasure.target = $target, erasure.reason = $reason,
    erasure.plan = $plan, erasure.receipt = $receipt, erasure.finished_at = $finished_at,
    contact.is_erasing = CASE WHEN $is_whole AND $state = 'done' THEN false
                              ELSE contact.is_erasing END
RETURN erasure.erasure_id AS erasure_id
