// The newest decisions about some contacts that fit a filter; an empty string lets all through.
// mode: read
// params: contact_keys, disposal, gate_reason, door, since, until, limit
// returns: contact_key, decision_id, at
UNWIND $contact_keys AS wanted_key
MATCH (contact:Contact {contact_key: wanted_key})<-[:`FOR`]-(decision:Decision)
WITH contact, decision, coalesce(decision.disposal, 'admit') AS disposal
WHERE ($disposal = '' OR disposal = $disposal)
  AND ($gate_reason = '' OR decision.gate_reason = $gate_reason)
  AND ($door = '' OR decision.door = $door)
  AND decision.at >= $since AND decision.at < $until
RETURN contact.contact_key AS contact_key, decision.decision_id AS decision_id, decision.at AS at
ORDER BY at DESC, decision_id
LIMIT $limit
