// Earlier decisions about one inference about a contact, one row for each episode. The query looks for the
// answer among the contact's decisions: the other end of SETTLES would be any decision of the store.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[made:`FOR`]-(decision:Decision)
      -[judged:JUDGED]->(episode:Episode)-[held:`IN`]->(session:Session)
// embedded: join contact, made, decision, judged, episode, held, session
WITH contact, decision, episode, session
MATCH (decision) WHERE decision.inference_key = $inference_key
WITH contact, decision, episode, session
OPTIONAL MATCH (contact)<-[:`FOR`]-(answer:Decision)
WHERE answer.settles_id = decision.decision_id
RETURN decision.decision_id AS decision_id, decision.action AS action,
       decision.gate_reason AS gate_reason, decision.trust AS trust,
       decision.held_id AS held_id, decision.lapses_at AS lapses_at,
       answer.decision_id AS answer_id, episode.episode_id AS episode_id,
       session.session_id AS session_id
ORDER BY decision.at, decision_id, episode_id
