// One job of a contact's, as it stands; anybody else's gives no row.
// mode: read
// params: job_id, tenant, agent_id, contact_id
// returns: job_id, tenant, agent_id, contact_id, session_id, state, attempts, submitted_at, due_at, finished_at, extractor, last_error, added, superseding, known, held, refused, left_out
MATCH (job:Job {job_id: $job_id})
WHERE job.tenant = $tenant AND job.agent_id = $agent_id AND job.contact_id = $contact_id
RETURN job.job_id AS job_id, job.tenant AS tenant, job.agent_id AS agent_id,
       job.contact_id AS contact_id, job.session_id AS session_id, job.state AS state,
       job.attempts AS attempts, job.submitted_at AS submitted_at, job.due_at AS due_at,
       job.finished_at AS finished_at, job.extractor AS extractor, job.last_error AS last_error,
       coalesce(job.added, 0) AS added, coalesce(job.superseding, 0) AS superseding,
       coalesce(job.known, 0) AS known, coalesce(job.held, 0) AS held,
       coalesce(job.refused, 0) AS refused, coalesce(job.left_out, 0) AS left_out
