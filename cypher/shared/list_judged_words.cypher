// Which decisions about a contact rest on which episodes, with the words that each cites.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`FOR`]-(decision:Decision)
MATCH (decision)-[judged:JUDGED]->(episode:Episode)
MATCH (episode)-[:`IN`]->(session:Session)
RETURN decision.decision_id AS decision_id, episode.episode_id AS episode_id,
       session.session_id AS session_id, judged.span AS span, episode.text AS text
