// A page of a contact's episodes as they are kept, for an export; one in two sessions comes twice.
// mode: read
// params: contact_key, after, limit
// returns: node_id, node
MATCH (contact:Contact {contact_key: $contact_key})<-[:`WITH`]-(session:Session)
MATCH (session)<-[:`IN`]-(episode:Episode)
WITH episode
WHERE episode.episode_id > $after
RETURN episode.episode_id AS node_id, episode AS node
ORDER BY node_id
LIMIT $limit
