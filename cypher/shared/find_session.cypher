// A session: its times, its summary, and the outcomes of its candidates.
// mode: read
MATCH (session:Session {session_key: $session_key})
RETURN session.session_id AS session_id, session.channel AS channel,
       session.started_at AS started_at, session.ended_at AS ended_at, session.summary AS summary,
       coalesce(session.added, 0) AS added, coalesce(session.superseding, 0) AS superseding,
       coalesce(session.known, 0) AS known, coalesce(session.held, 0) AS held,
       coalesce(session.refused, 0) AS refused, coalesce(session.left_out, 0) AS left_out
