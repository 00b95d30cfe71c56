// Keep what a person says a decision's relation should have been; no row without such a decision
// about this contact. The contact's version moves, so that what was answered before is out of date;
// it is locked first, for another writer may move the version as well.
// mode: write
MATCH (decision:Decision {decision_id: $decision_id})-[:`FOR`]->(contact:Contact {contact_key: $contact_key})
SET contact.name = contact.name
WITH decision, contact
SET decision.correction = $correction, decision.corrected_at = $at,
    contact.version = contact.version + 1
RETURN decision.decision_id AS decision_id
