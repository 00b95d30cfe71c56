// The episodes that decisions about a contact rest on, with the words that each cites.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[made:`FOR`]-(decision:Decision)
      -[judged:JUDGED]->(episode:Episode)-[held:`IN`]->(session:Session)
// embedded: join contact, made, decision, judged, episode, held, session
RETURN decision.decision_id AS decision_id, episode.episode_id AS episode_id,
       session.session_id AS session_id, judged.span AS span, episode.text AS text
