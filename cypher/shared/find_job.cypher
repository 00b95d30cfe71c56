// One of a contact's jobs; another contact's gives no row.
// mode: read
MATCH (job:Job {job_id: $job_id})
WHERE job.tenant = $tenant AND job.agent_id = $agent_id AND job.contact_id = $contact_id
RETURN
       // include: job
