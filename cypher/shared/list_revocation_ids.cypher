// The decisions about a contact that ended a fact without another in its place, in no order.
// mode: read
// params: contact_key
// returns: decision_id
MATCH (contact:Contact {contact_key: $contact_key})<-[:`FOR`]-(decision:Decision)
WITH decision
MATCH (decision)
WHERE decision.action = 'REVOKE'
RETURN decision.decision_id AS decision_id
