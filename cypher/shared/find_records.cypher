// The records of those of these decisions that were made already, about any contact: an import
// compares a line that brings a key with the note to which the key belongs.
// mode: read
UNWIND $decision_ids AS wanted_id
MATCH (decision:Decision {decision_id: wanted_id})
RETURN decision.decision_id AS decision_id, decision.record AS record,
       decision.correction AS correction, decision.at AS at
