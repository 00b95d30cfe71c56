// As count_states, of all contacts of an agent that has many: the links are read in one pass, and counted before
// the agent is looked for.
// mode: read
MATCH (contact:Contact)<-[:ABOUT]-(fact:Fact)
WITH contact, CASE WHEN NOT fact.state IN ['live', 'expired'] THEN fact.state
                   WHEN coalesce(fact.expires_at > $now, true) THEN 'live'
                   ELSE 'expired' END AS state, count(*) AS facts
MATCH (contact)<-[:KNOWS]-(agent:Agent {agent_key: $agent_key})
RETURN contact.contact_id AS contact_id, state, facts
