// The held candidates of some contacts that have no answer yet; without those that had to wait only until
// now. The query looks for answers among the contact's decisions: the other end of SETTLES would be any
// decision of the store.
// mode: read
MATCH (contact:Contact)<-[:`FOR`]-(decision:Decision)
WHERE contact.contact_key IN $contact_keys
WITH contact, decision
MATCH (decision)
WHERE decision.action = 'HOLD' AND decision.held_id IS NULL
  AND (decision.lapses_at IS NULL OR decision.lapses_at > $now)
OPTIONAL MATCH (contact)<-[:`FOR`]-(answer:Decision)
WHERE answer.settles_id = decision.decision_id
WITH contact.contact_key AS contact_key, decision.decision_id AS decision_id,
     decision.at AS at, count(answer) AS answers
WHERE answers = 0
RETURN contact_key, decision_id, at
