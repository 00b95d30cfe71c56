// Take away which words of episodes the facts of a contact cite: they may be those that go.
// mode: write
UNWIND $episode_ids AS episode_id
MATCH (episode:Episode {episode_id: episode_id})<-[cited:EVIDENCED_BY]-(fact:Fact)
WHERE cited.span IS NOT NULL
MATCH (fact)-[:ABOUT]->(:Contact {contact_key: $contact_key})
SET cited.span = NULL
RETURN DISTINCT episode.episode_id AS episode_id
