// Whose story: all that is known of a contact, now and before, and who keeps it.
// shows: graph
MATCH (agent:Agent {tenant: $tenant, agent_id: $agent_id})-[knows:KNOWS]->(contact:Contact {contact_id: $contact_id})
MATCH (contact)<-[about:ABOUT]-(fact:Fact)
RETURN agent, knows, contact, about, fact
ORDER BY fact.recorded_at DESC
LIMIT 200
