// The IN links from a contact's episodes to its sessions, for an export.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`WITH`]-(session:Session)
MATCH (session)<-[:`IN`]-(episode:Episode)
WITH episode, session
WHERE episode.episode_id > $after AND episode.episode_id <= $until
RETURN episode.episode_id AS from_id, session.session_key AS to_id
ORDER BY from_id, to_id
