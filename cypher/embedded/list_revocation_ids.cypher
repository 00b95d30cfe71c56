// The decisions about a contact that ended a fact without a successor, or came through a given door, in no
// order; an empty string stands for no door.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`FOR`]-(decision:Decision)
WITH decision
MATCH (decision)
WHERE decision.action = 'REVOKE' OR decision.door = $door
RETURN decision.decision_id AS decision_id
