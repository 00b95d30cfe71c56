// The decisions that came from sessions of contacts that were merged into this one, each with the answers to it: what
// a split gives back. A first yes may have led to another person's question.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`WITH`]-(session:Session)
WHERE any(key IN $keys WHERE session.session_key STARTS WITH (key + '/'))
MATCH (session)<-[:`IN`]-(episode:Episode)<-[:JUDGED]-(own:Decision)
WHERE own.episode_id = episode.episode_id
OPTIONAL MATCH (own)<-[:SETTLES]-(answer:Decision)
OPTIONAL MATCH (answer)<-[:SETTLES]-(last:Decision)
RETURN own.decision_id AS decision_id, answer.decision_id AS answer_id, last.decision_id AS last_id
