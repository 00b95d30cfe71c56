// The given decisions that exist already; an import uses them to continue where it stopped.
// mode: read
UNWIND $decision_ids AS wanted_id
MATCH (decision:Decision {decision_id: wanted_id})
RETURN decision.decision_id AS decision_id
