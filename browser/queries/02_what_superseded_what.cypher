// What superseded what: each chain, from what holds now down to what was said first.
// shows: graph
MATCH (:Agent {tenant: $tenant, agent_id: $agent_id})-[:KNOWS]->(:Contact {contact_id: $contact_id})<-[:ABOUT]-(head:Fact)
WHERE NOT EXISTS { (:Fact)-[:SUPERSEDES]->(head) }
MATCH chain = (head)-[:SUPERSEDES*1..20]->(:Fact)
RETURN chain
ORDER BY head.recorded_at DESC
LIMIT 200
