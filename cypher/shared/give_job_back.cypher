// End a failed attempt: the job waits until due_at, or is dead.
// mode: write
MATCH (job:Job {job_id: $job_id})
SET job.locked_by = $lease_id
WITH job
WHERE job.state = 'running' AND job.leased_by = $lease_id
SET job.state = $state, job.attempts = $attempts, job.due_at = $due_at,
    job.last_error = coalesce($last_error, job.last_error)
RETURN job.job_id AS job_id
