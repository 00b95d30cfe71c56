// A page of the jobs that read a contact's sessions, as they are kept, for an export.
// mode: read
// params: contact_key, after, limit
// returns: node_id, node
MATCH (contact:Contact {contact_key: $contact_key})<-[:`WITH`]-(session:Session)
MATCH (session)<-[:READS]-(job:Job)
WITH job
WHERE job.job_id > $after
RETURN job.job_id AS node_id, job AS node
ORDER BY node_id
LIMIT $limit
