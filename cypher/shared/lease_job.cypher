// Take a job that is due; no row means that another worker did. The first SET takes the lock, and
// only then is looked at whether it is still due: of two workers one finds it taken. Asked again after
// a lost answer it is this lease's already, and the attempt counts once.
// mode: write
// params: job_id, lease_id, now, until
// returns: job_id, tenant, agent_id, contact_id, session_id, state, attempts, submitted_at, due_at, finished_at, extractor, last_error, added, superseding, known, held, refused, left_out
MATCH (job:Job {job_id: $job_id})
SET job.locked_by = $lease_id
WITH job
WHERE (job.state IN ['waiting', 'running'] AND job.due_at <= $now)
   OR (job.state = 'running' AND job.leased_by = $lease_id)
SET job.attempts = job.attempts + CASE WHEN job.leased_by = $lease_id THEN 0 ELSE 1 END
SET job.state = 'running', job.leased_by = $lease_id, job.due_at = $until
RETURN job.job_id AS job_id, job.tenant AS tenant, job.agent_id AS agent_id,
       job.contact_id AS contact_id, job.session_id AS session_id, job.state AS state,
       job.attempts AS attempts, job.submitted_at AS submitted_at, job.due_at AS due_at,
       job.finished_at AS finished_at, job.extractor AS extractor, job.last_error AS last_error,
       coalesce(job.added, 0) AS added, coalesce(job.superseding, 0) AS superseding,
       coalesce(job.known, 0) AS known, coalesce(job.held, 0) AS held,
       coalesce(job.refused, 0) AS refused, coalesce(job.left_out, 0) AS left_out
