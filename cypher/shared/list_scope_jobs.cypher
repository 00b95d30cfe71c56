// All jobs of a contact, with the words in each.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`WITH`]-(session:Session)
MATCH (session)<-[:READS]-(job:Job)
RETURN session.session_key AS session_key, job.job_id AS job_id, job.state AS state,
       job.proposals AS proposals, job.summary AS summary, job.last_error AS last_error
