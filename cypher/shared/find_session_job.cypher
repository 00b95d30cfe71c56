// The newest job of a session.
// mode: read
// params: session_key
// returns: job_id, submitted_at
MATCH (session:Session {session_key: $session_key})<-[:READS]-(job:Job)
RETURN job.job_id AS job_id, job.submitted_at AS submitted_at
ORDER BY submitted_at DESC, job_id
LIMIT 1
