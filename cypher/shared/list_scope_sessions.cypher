// All sessions of a contact, with their stored parts; `turns` counts the turns that were handed over.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`WITH`]-(session:Session)
OPTIONAL MATCH (session)<-[:`IN`]-(episode:Episode)
RETURN session.session_key AS session_key, session.session_id AS session_id,
       session.summary AS summary, count(episode.role) AS turns
