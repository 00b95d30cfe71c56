// A page of the stored jobs that read some contacts' sessions, for an export.
// mode: read
MATCH (contact:Contact)<-[:`WITH`]-(session:Session)
WHERE contact.contact_key IN $contact_keys
MATCH (session)<-[:READS]-(job:Job)
WITH contact.contact_key AS contact_key, job
WHERE job.job_id > $after
RETURN contact_key, job.job_id AS node_id, job AS node
ORDER BY node_id
LIMIT $limit
