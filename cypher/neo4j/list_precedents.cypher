// Earlier decisions about one inference about a contact, one row for each episode.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`FOR`]-(decision:Decision)
WITH decision
MATCH (decision) WHERE decision.inference_key = $inference_key
MATCH (decision)-[:JUDGED]->(episode:Episode)-[:`IN`]->(session:Session)
OPTIONAL MATCH (decision)<-[:SETTLES]-(answer:Decision)
RETURN decision.decision_id AS decision_id, decision.action AS action,
       decision.gate_reason AS gate_reason, decision.trust AS trust,
       decision.held_id AS held_id, decision.lapses_at AS lapses_at,
       answer.decision_id AS answer_id, episode.episode_id AS episode_id,
       session.session_id AS session_id
ORDER BY decision.at, decision_id, episode_id
