// As count_episodes, of all contacts of an agent that has many.
// mode: read
MATCH (agent:Agent {agent_key: $agent_key})-[:KNOWS]->(contact:Contact)<-[:`WITH`]-(session:Session)
WITH contact.contact_key AS contact_key, session
OPTIONAL MATCH (session)<-[:`IN`]-(episode:Episode)
RETURN contact_key, count(DISTINCT session) AS sessions, count(episode) AS episodes
