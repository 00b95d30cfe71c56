// Back to the words: each live fact, what it says again, the turns that all this rests on, and the session they were said in.
// shows: graph
MATCH (:Agent {tenant: $tenant, agent_id: $agent_id})-[:KNOWS]->(:Contact {contact_id: $contact_id})<-[:ABOUT]-(fact:Fact {state: 'live'})
MATCH (fact)-[again:SUPERSEDES*0..]->(said:Fact)
WHERE all(link IN again WHERE coalesce(link.is_restatement, link.decided_by = 'threshold'))
MATCH (said)-[rests:EVIDENCED_BY]->(episode:Episode)-[within:IN]->(session:Session)
RETURN fact, again, said, rests, episode, within, session
ORDER BY episode.said_at DESC
LIMIT 150
