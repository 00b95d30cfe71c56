// The decisions about a contact that ended a fact without a successor, or came through a given door, in no
// order; an empty string stands for no door. Each half has an index of its own.
// mode: read
CALL () {
  MATCH (decision:Decision)
  WHERE decision.contact_key = $contact_key AND decision.action = 'REVOKE'
  RETURN decision
  UNION
  MATCH (decision:Decision)
  WHERE decision.contact_key = $contact_key AND decision.door = $door
  RETURN decision
}
RETURN decision.decision_id AS decision_id
