// As list_pending_ids, the newest until a time, of all contacts of an agent that has many: what is held is found
// in the whole store. The caller leaves out those of that time that it knows: to compare ids here would read them all
// first.
// mode: read
MATCH (decision:Decision)
WHERE decision.action = 'HOLD' AND decision.held_id IS NULL
  AND (decision.lapses_at IS NULL OR decision.lapses_at > $now)
  AND decision.at <= $until
WITH decision
MATCH (decision)-[held:`FOR`]->(contact:Contact)
// embedded: join decision, held, contact
WITH decision, contact
WHERE NOT EXISTS { MATCH (decision)<-[:SETTLES]-(answer:Decision) }
WITH decision, contact
MATCH (contact)<-[:KNOWS]-(agent:Agent {agent_key: $agent_key})
RETURN decision.decision_id AS decision_id, decision.at AS at
ORDER BY at DESC, decision_id
LIMIT $limit
