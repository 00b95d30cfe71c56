// Live as of a day: what was true of the contact then. Change the day in the first line.
// shows: graph
WITH datetime() - duration({days: 14}) AS day
MATCH (:Agent {tenant: $tenant, agent_id: $agent_id})-[:KNOWS]->(contact:Contact {contact_id: $contact_id})<-[about:ABOUT]-(fact:Fact)
WHERE fact.valid_from <= day AND (fact.valid_to IS NULL OR fact.valid_to > day)
  AND NOT coalesce(fact.is_void, false) AND NOT fact.state IN ['revoked', 'erased']
RETURN contact, about, fact
ORDER BY fact.valid_from DESC
LIMIT 200
