// A contact's sessions with ids that have this prefix, the latest first. The session of the records of answers
// is left out: nothing was said in it. That filter is behind a WITH, or the engine reads all sessions.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`WITH`]-(session:Session)
WHERE session.session_id STARTS WITH $beginning
WITH session
WHERE coalesce(session.channel, '') <> 'answer'
RETURN session.session_id AS session_id, session.ended_at AS ended_at
ORDER BY ended_at DESC, session_id DESC
LIMIT $limit
