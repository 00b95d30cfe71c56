// The decisions about a contact that ended a fact without another in its place, or that came through
// a door, in no order; an empty string stands for no door.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`FOR`]-(decision:Decision)
WITH decision
MATCH (decision)
WHERE decision.action = 'REVOKE' OR decision.door = $door
RETURN decision.decision_id AS decision_id
