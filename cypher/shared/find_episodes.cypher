// Which of these episodes are a contact's own: evidence may not be passed off as another's.
// mode: read
// script for each: wanted_id of episode_ids
MATCH (episode:Episode {episode_id: $wanted_id})-[:`IN`]->(:Session)-[:`WITH`]->(contact:Contact)
WHERE contact.contact_key = $contact_key
RETURN episode.episode_id AS episode_id, episode.text AS text, episode.source_kind AS source_kind
