// The held candidates of some contacts that have no answer yet; without those that had to wait only until
// now.
// mode: read
MATCH (decision:Decision)
WHERE decision.contact_key IN $contact_keys
  AND decision.action = 'HOLD' AND decision.held_id IS NULL
  AND (decision.lapses_at IS NULL OR decision.lapses_at > $now)
  AND NOT EXISTS { MATCH (decision)<-[:SETTLES]-(answer:Decision) }
RETURN decision.contact_key AS contact_key, decision.decision_id AS decision_id,
       decision.at AS at
