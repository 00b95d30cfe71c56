// Start a contact's dead or waiting job again now; no row means that the job is neither, or is another
// contact's.
// mode: write
MATCH (job:Job {job_id: $job_id})
WHERE job.tenant = $tenant AND job.agent_id = $agent_id AND job.contact_id = $contact_id
SET job.locked_by = 'retry'
WITH job
WHERE job.state IN ['dead', 'waiting']
SET job.state = 'waiting', job.attempts = 0, job.due_at = $at
RETURN job.job_id AS job_id
