// Refused and held: what the gate did not let in, why, and whether a question still waits.
// shows: table
MATCH (:Agent {tenant: $tenant, agent_id: $agent_id})-[:KNOWS]->(:Contact {contact_id: $contact_id})<-[:FOR]-(decision:Decision)
WHERE decision.action IN ['REJECT', 'HOLD']
RETURN decision.at AS at, decision.action AS action, decision.gate_reason AS why,
       decision.text AS text, decision.reason AS reason,
       decision.action = 'HOLD' AND decision.held_id IS NULL
         AND (decision.lapses_at IS NULL OR decision.lapses_at > datetime())
         AND decision.record CONTAINS '"question":"'
         AND NOT EXISTS { (:Decision)-[:SETTLES]->(decision) } AS waits
ORDER BY at DESC
LIMIT 200
