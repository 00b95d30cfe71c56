// Put records without words in the place of those that have them; ids, actions and times stay.
// mode: write
// params: decisions
// map decisions: decision_id, text, reason, arbiter_reasoning, inference_key, lapses_at, record
// script for each: each of decisions
// returns: decision_id
MATCH (decision:Decision {decision_id: $each.decision_id})
SET decision.text = $each.text, decision.reason = $each.reason, decision.record = $each.record,
    decision.arbiter_reasoning = $each.arbiter_reasoning,
    decision.inference_key = $each.inference_key, decision.lapses_at = $each.lapses_at
RETURN decision.decision_id AS decision_id
