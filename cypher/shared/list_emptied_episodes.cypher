// The episodes of a contact that words were erased from, with what is left of each.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`WITH`]-(session:Session)
MATCH (session)<-[:`IN`]-(episode:Episode)
WHERE episode.text CONTAINS '[erased]'
RETURN episode.episode_id AS episode_id, episode.text AS text
