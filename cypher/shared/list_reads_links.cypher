// The READS links from jobs to a contact's sessions, for an export.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`WITH`]-(session:Session)
MATCH (session)<-[:READS]-(job:Job)
WITH job, session
WHERE job.job_id > $after AND job.job_id <= $until
RETURN job.job_id AS from_id, session.session_key AS to_id
ORDER BY from_id, to_id
