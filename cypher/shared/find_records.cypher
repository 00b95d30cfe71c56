// The records of the given decisions that exist already, about any contact: an import compares a line that
// has a key with the note that the key belongs to.
// mode: read
UNWIND $decision_ids AS wanted_id
MATCH (decision:Decision {decision_id: wanted_id})
RETURN decision.decision_id AS decision_id, decision.record AS record,
       decision.correction AS correction, decision.at AS at
