// Near misses: notes that came close to a fact and yet did not take its place, the closest first.
// shows: table
MATCH (:Agent {tenant: $tenant, agent_id: $agent_id})-[:KNOWS]->(:Contact {contact_id: $contact_id})<-[:FOR]-(decision:Decision)
MATCH (decision)-[compared:COMPARED_WITH {rank: 1}]->(fact:Fact)
WHERE decision.action = 'ADD' AND compared.cosine >= 0.7
RETURN round(compared.cosine, 3) AS cosine, decision.text AS note, fact.text AS fact,
       decision.decided_by AS decided_by, decision.reason AS reason, decision.at AS at,
       decision.decision_id AS decision_id
ORDER BY cosine DESC, at DESC
LIMIT 100
