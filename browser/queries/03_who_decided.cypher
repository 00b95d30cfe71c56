// Who decided, and at which cosine: every supersession with its rule, its reason and who asked for it.
// shows: table
MATCH (:Agent {tenant: $tenant, agent_id: $agent_id})-[:KNOWS]->(:Contact {contact_id: $contact_id})<-[:ABOUT]-(new:Fact)
MATCH (new)-[link:SUPERSEDES]->(old:Fact)
OPTIONAL MATCH (decision:Decision {action: 'UPDATE'})-[:WROTE]->(new)
RETURN link.at AS at, new.text AS now, old.text AS before, link.decided_by AS decided_by,
       link.cosine AS cosine, link.reason AS reason, decision.proposed_by AS proposed_by,
       decision.decision_id AS decision_id
ORDER BY at DESC
LIMIT 200
