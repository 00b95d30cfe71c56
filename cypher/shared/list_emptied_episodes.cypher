// The contact's episodes that lost words to an erasure, with what is left of each.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`WITH`]-(session:Session)
MATCH (session)<-[:`IN`]-(episode:Episode)
WHERE episode.text CONTAINS '[erased]'
RETURN episode.episode_id AS episode_id, episode.text AS text
