// Which of these episodes are stored, and whose they are: evidence may not be passed off as another's.
// mode: read
// params: episode_ids
// returns: episode_id, text, source_kind, contact_key
UNWIND $episode_ids AS wanted_id
MATCH (episode:Episode {episode_id: wanted_id})-[:`IN`]->(:Session)-[:`WITH`]->(contact:Contact)
RETURN episode.episode_id AS episode_id, episode.text AS text,
       episode.source_kind AS source_kind, contact.contact_key AS contact_key
