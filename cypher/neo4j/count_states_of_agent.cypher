// As count_states, of all contacts of an agent that has many.
// mode: read
MATCH (agent:Agent {agent_key: $agent_key})-[:KNOWS]->(contact:Contact)<-[:ABOUT]-(fact:Fact)
WITH contact.contact_id AS contact_id, CASE WHEN NOT fact.state IN ['live', 'expired'] THEN fact.state
                      WHEN coalesce(fact.expires_at > $now, true) THEN 'live'
                      ELSE 'expired' END AS state
RETURN contact_id, state, count(*) AS facts
