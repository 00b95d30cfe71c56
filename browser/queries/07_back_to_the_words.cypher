// Back to the words: each live fact, the turns that it rests on, and the session they were said in.
// shows: graph
MATCH (:Agent {tenant: $tenant, agent_id: $agent_id})-[:KNOWS]->(:Contact {contact_id: $contact_id})<-[:ABOUT]-(fact:Fact {state: 'live'})
MATCH (fact)-[rests:EVIDENCED_BY]->(episode:Episode)-[within:IN]->(session:Session)
RETURN fact, rests, episode, within, session
ORDER BY episode.said_at DESC
LIMIT 150
