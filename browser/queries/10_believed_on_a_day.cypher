// Believed on a day: what the memory held of the contact then, and what took its place since. Change the day in the first line, for example to datetime('2026-11-01'). It counts when the memory was told, not when a thing was said: before it was told anything it believed nothing. What was undone since counts as it stands now.
// shows: graph
WITH datetime() AS day
MATCH (:Agent {tenant: $tenant, agent_id: $agent_id})-[:KNOWS]->(contact:Contact {contact_id: $contact_id})<-[about:ABOUT]-(fact:Fact)
WHERE fact.recorded_at <= day AND (fact.expires_at IS NULL OR fact.expires_at > day)
  AND NOT EXISTS { MATCH (fact)<-[ended:SUPERSEDES]-(:Fact) WHERE ended.at <= day }
  AND NOT EXISTS { MATCH (fact)<-[:REVOKED]-(revocation:Decision) WHERE revocation.at <= day }
  AND fact.state <> 'erased'
OPTIONAL MATCH (fact)<-[supersedes:SUPERSEDES]-(newer:Fact)
RETURN contact, about, fact, supersedes, newer
ORDER BY fact.recorded_at DESC
LIMIT 200
