// One job of a contact's, as it stands; anybody else's gives no row.
// mode: read
MATCH (job:Job {job_id: $job_id})
WHERE job.tenant = $tenant AND job.agent_id = $agent_id AND job.contact_id = $contact_id
RETURN
       // include: job
