// Remove the summaries of sessions.
// mode: write
UNWIND $session_keys AS session_key
MATCH (session:Session {session_key: session_key})
SET session.summary = NULL
RETURN session.session_key AS session_key
