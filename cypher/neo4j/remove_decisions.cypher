// Replace records of decisions by records without words; ids, actions and times stay.
// mode: write
// script for each: each of decisions
MATCH (decision:Decision {decision_id: $each.decision_id})
SET decision.text = $each.text, decision.reason = $each.reason, decision.record = $each.record,
    decision.arbiter_reasoning = $each.arbiter_reasoning,
    decision.inference_key = $each.inference_key, decision.lapses_at = $each.lapses_at
RETURN decision.decision_id AS decision_id
