// Take away which words of episodes the decisions about a contact cite: they may be those that go.
// mode: write
MATCH (contact:Contact {contact_key: $contact_key})<-[:`FOR`]-(decision:Decision)
MATCH (decision)-[cited:JUDGED]->(episode:Episode)
WITH cited, episode
WHERE cited.span IS NOT NULL AND episode.episode_id IN $episode_ids
SET cited.span = NULL
RETURN DISTINCT episode.episode_id AS episode_id
