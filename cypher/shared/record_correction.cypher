// Keep the relation that a person calls right for a decision; no row if this contact has no such decision.
// The contact's version is raised, so that cached answers are out of date. The contact is locked first,
// because another writer may raise the version as well.
// mode: write
MATCH (decision:Decision {decision_id: $decision_id})-[:`FOR`]->(contact:Contact {contact_key: $contact_key})
SET contact.name = contact.name
WITH decision, contact
SET decision.correction = $correction, decision.corrected_at = $at,
    contact.version = contact.version + 1
RETURN decision.decision_id AS decision_id
