// Take the words away that decisions of older stores hold in columns, beside their records.
// mode: write
// params: decision_ids
// returns: decision_id
UNWIND $decision_ids AS decision_id
MATCH (decision:Decision {decision_id: decision_id})
SET decision.subject = NULL, decision.attribute = NULL, decision.value = NULL,
    decision.value_key = NULL, decision.topic = NULL, decision.tags = NULL,
    decision.question = NULL, decision.findings = NULL, decision.gate_findings = NULL,
    decision.source_reference = NULL, decision.idempotency_key = NULL, decision.arbiter_error = NULL,
    decision.is_single_valued = NULL, decision.is_known = NULL, decision.is_personal = NULL,
    decision.sensitivity = NULL
RETURN decision.decision_id AS decision_id
