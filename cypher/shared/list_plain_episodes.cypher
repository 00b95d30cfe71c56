// A page of some contacts' episodes in columns, with all that an export holds of them; an episode in two
// sessions comes twice.
// mode: read
// rows: by column
MATCH (contact:Contact)<-[:`WITH`]-(session:Session)
WHERE contact.contact_key IN $contact_keys
MATCH (session)<-[:`IN`]-(episode:Episode)
WITH contact.contact_key AS contact_key, episode
WHERE episode.episode_id > $after
RETURN contact_key, episode.episode_id AS node_id,
       episode.episode_id AS episode_id, episode.text AS text, episode.said_at AS said_at,
       episode.source_kind AS source_kind, episode.source_reference AS source_reference,
       episode.role AS role, episode.position AS position, episode.job_id AS job_id,
       episode.is_cleaned AS is_cleaned
ORDER BY node_id
LIMIT $limit
