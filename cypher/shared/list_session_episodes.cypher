// The turns of a session in their order, without the evidence of single notes.
// mode: read
MATCH (session:Session {session_key: $session_key})<-[:`IN`]-(episode:Episode)
WHERE episode.role IS NOT NULL
RETURN episode.episode_id AS episode_id, session.session_id AS session_id, episode.role AS role,
       episode.text AS text, episode.said_at AS said_at, episode.position AS position,
       episode.source_reference AS source_reference, episode.job_id AS job_id,
       episode.is_cleaned AS is_cleaned
ORDER BY said_at, position, episode_id
