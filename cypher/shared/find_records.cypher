// The records of the given decisions that exist, about any contact: the ids come from a query about the contact, or
// from the keys of an import's lines.
// mode: read
UNWIND $decision_ids AS wanted_id
MATCH (decision:Decision {decision_id: wanted_id})
RETURN decision.decision_id AS decision_id, decision.record AS record,
       decision.correction AS correction, decision.at AS at
