// A page of some contacts' stored episodes, for an export; an episode in two sessions comes twice.
// mode: read
MATCH (contact:Contact)<-[:`WITH`]-(session:Session)
WHERE contact.contact_key IN $contact_keys
MATCH (session)<-[:`IN`]-(episode:Episode)
WITH contact.contact_key AS contact_key, episode
WHERE episode.episode_id > $after
RETURN contact_key, episode.episode_id AS node_id, episode AS node
ORDER BY node_id
LIMIT $limit
