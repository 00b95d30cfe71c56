// The episodes that a decision rests on, with the words in them that it cites.
// mode: read
MATCH (decision:Decision {decision_id: $decision_id})-[judged:JUDGED]->(episode:Episode)
MATCH (episode)-[:`IN`]->(session:Session)
RETURN episode.episode_id AS episode_id, session.session_id AS session_id,
       episode.text AS text, episode.said_at AS said_at, episode.source_kind AS source_kind,
       episode.source_reference AS source_reference, judged.span AS span,
       session.session_key AS session_key
ORDER BY said_at, episode_id
