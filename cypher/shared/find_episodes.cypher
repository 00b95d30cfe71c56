// The given episodes that are the contact's own: evidence may not pass for another contact's. The session of a
// merged contact has the key of that contact.
// mode: read
// script for each: wanted_id of episode_ids
MATCH (episode:Episode {episode_id: $wanted_id})-[:`IN`]->(session:Session)-[:`WITH`]->(contact:Contact)
WHERE contact.contact_key = $contact_key
RETURN episode.episode_id AS episode_id, episode.text AS text, episode.source_kind AS source_kind,
       session.session_key AS session_key
