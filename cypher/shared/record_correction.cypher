// Keep what a person says a decision's relation should have been; no row without such a decision
// about this contact.
// mode: write
MATCH (decision:Decision {decision_id: $decision_id})-[:`FOR`]->(contact:Contact {contact_key: $contact_key})
SET decision.correction = $correction, decision.corrected_at = $at
RETURN decision.decision_id AS decision_id
