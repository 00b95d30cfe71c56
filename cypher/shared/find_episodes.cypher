// The given episodes that are the contact's own: evidence may not pass for another contact's.
// mode: read
// script for each: wanted_id of episode_ids
MATCH (episode:Episode {episode_id: $wanted_id})-[:`IN`]->(:Session)-[:`WITH`]->(contact:Contact)
WHERE contact.contact_key = $contact_key
RETURN episode.episode_id AS episode_id, episode.text AS text, episode.source_kind AS source_kind
