// How far an erasure got. What it was about goes with its end, and so does what was planned. No row
// means that it is done: who comes late with a step before that does not begin it again.
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
