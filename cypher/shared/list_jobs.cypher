// Jobs after a place in the list, newest first; an empty parameter means no filter.
// mode: read
MATCH (job:Job)
WHERE job.tenant = $tenant
  AND ($agent_id = '' OR job.agent_id = $agent_id)
  AND ($contact_id = '' OR job.contact_id = $contact_id)
  AND ($state = '' OR job.state = $state)
  AND (job.submitted_at < $after_at
       OR (job.submitted_at = $after_at AND job.job_id > $after_id))
RETURN
       // include: job
ORDER BY submitted_at DESC, job_id
LIMIT $limit
