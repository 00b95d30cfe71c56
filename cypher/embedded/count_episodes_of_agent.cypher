// As count_episodes, of all contacts of an agent that has many: the links are read in one pass, and counted before
// the agent is looked for.
// mode: read
MATCH (contact:Contact)<-[:`WITH`]-(session:Session)
OPTIONAL MATCH (session)<-[:`IN`]-(episode:Episode)
WITH contact, count(DISTINCT session) AS sessions, count(episode) AS episodes
MATCH (contact)<-[:KNOWS]-(agent:Agent {agent_key: $agent_key})
RETURN contact.contact_key AS contact_key, sessions, episodes
