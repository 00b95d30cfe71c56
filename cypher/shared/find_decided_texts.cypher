// Which of these decisions were made already, and about which text: an import takes up where it
// stopped, and tells a key that was used for another note.
// mode: read
UNWIND $decision_ids AS wanted_id
MATCH (decision:Decision {decision_id: wanted_id})
RETURN decision.decision_id AS decision_id, decision.text AS text
