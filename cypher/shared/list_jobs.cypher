// Jobs, the newest first; an empty parameter lets all through.
// mode: read
// params: tenant, agent_id, contact_id, state, limit
// returns: job_id, tenant, agent_id, contact_id, session_id, state, attempts, submitted_at, due_at, finished_at, extractor, last_error, added, superseding, known, held, refused, left_out
MATCH (job:Job)
WHERE job.tenant = $tenant
  AND ($agent_id = '' OR job.agent_id = $agent_id)
  AND ($contact_id = '' OR job.contact_id = $contact_id)
  AND ($state = '' OR job.state = $state)
RETURN job.job_id AS job_id, job.tenant AS tenant, job.agent_id AS agent_id,
       job.contact_id AS contact_id, job.session_id AS session_id, job.state AS state,
       job.attempts AS attempts, job.submitted_at AS submitted_at, job.due_at AS due_at,
       job.finished_at AS finished_at, job.extractor AS extractor, job.last_error AS last_error,
       coalesce(job.added, 0) AS added, coalesce(job.superseding, 0) AS superseding,
       coalesce(job.known, 0) AS known, coalesce(job.held, 0) AS held,
       coalesce(job.refused, 0) AS refused, coalesce(job.left_out, 0) AS left_out
ORDER BY submitted_at DESC, job_id
LIMIT $limit
