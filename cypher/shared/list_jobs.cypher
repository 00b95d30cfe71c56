// Jobs, the newest first; an empty parameter lets all through.
// mode: read
MATCH (job:Job)
WHERE job.tenant = $tenant
  AND ($agent_id = '' OR job.agent_id = $agent_id)
  AND ($contact_id = '' OR job.contact_id = $contact_id)
  AND ($state = '' OR job.state = $state)
RETURN
       // include: job
ORDER BY submitted_at DESC, job_id
LIMIT $limit
