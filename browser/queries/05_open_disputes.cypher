// Open disputes: live facts of which not all can hold, and nobody has settled it.
// shows: graph
MATCH (:Agent {tenant: $tenant, agent_id: $agent_id})-[:KNOWS]->(contact:Contact {contact_id: $contact_id})<-[about:ABOUT]-(one:Fact)
MATCH (one)-[conflict:CONFLICTS_WITH]->(other:Fact)
WHERE one.state = 'live' AND other.state = 'live' AND coalesce(conflict.decided_by, '') <> 'answer'
RETURN contact, about, one, conflict, other
ORDER BY conflict.at DESC
LIMIT 100
