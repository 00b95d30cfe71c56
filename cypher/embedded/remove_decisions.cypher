// Put records without words in the place of those that have them; ids, actions and times stay.
// mode: write
// All of a batch in one statement: one for each takes four times as long. A value that all of them lack has no
// type here, and a time needs one.
UNWIND $decisions AS each
WITH each, each.decision_id AS decision_id
MATCH (decision:Decision {decision_id: decision_id})
SET decision.text = each.text, decision.reason = each.reason, decision.record = each.record,
    decision.arbiter_reasoning = each.arbiter_reasoning,
    decision.inference_key = each.inference_key,
    decision.lapses_at = CAST(each.lapses_at AS TIMESTAMP)
RETURN decision.decision_id AS decision_id
