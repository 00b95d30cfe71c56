// The newest decisions about some contacts that fit a filter; an empty string means no filter.
// mode: read
MATCH (contact:Contact)<-[:`FOR`]-(decision:Decision)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_key AS contact_key, decision
MATCH (decision)
WHERE ($disposal = '' OR coalesce(decision.disposal, 'admit') = $disposal)
  AND ($gate_reason = '' OR decision.gate_reason = $gate_reason)
  AND ($door = '' OR decision.door = $door)
  AND decision.at >= $since AND decision.at < $until
  AND (decision.at < $after_at OR (decision.at = $after_at AND decision.decision_id > $after_id))
RETURN contact_key, decision.decision_id AS decision_id, decision.at AS at
ORDER BY at DESC, decision_id
LIMIT $limit
