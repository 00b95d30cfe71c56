// As list_pending_ids, of all contacts of an agent that has many: what is held is found in the whole store.
// mode: read
MATCH (decision:Decision)
WHERE decision.action = 'HOLD' AND decision.held_id IS NULL
  AND (decision.lapses_at IS NULL OR decision.lapses_at > $now)
WITH decision
MATCH (decision)-[held:`FOR`]->(contact:Contact)
// embedded: join decision, held, contact
WITH decision, contact
WHERE NOT EXISTS { MATCH (decision)<-[:SETTLES]-(answer:Decision) }
WITH decision, contact
MATCH (contact)<-[:KNOWS]-(agent:Agent {agent_key: $agent_key})
RETURN contact.contact_key AS contact_key, decision.decision_id AS decision_id,
       decision.at AS at
