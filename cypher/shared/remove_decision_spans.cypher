// Take away which words of episodes the decisions about a contact cite: they may be those that go.
// mode: write
UNWIND $episode_ids AS episode_id
MATCH (episode:Episode {episode_id: episode_id})<-[cited:JUDGED]-(decision:Decision)
WHERE cited.span IS NOT NULL
MATCH (decision)-[:`FOR`]->(:Contact {contact_key: $contact_key})
SET cited.span = NULL
RETURN DISTINCT episode.episode_id AS episode_id
