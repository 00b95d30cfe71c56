// Extend a worker's lease of a job; no row means that another worker has the job.
// mode: write
MATCH (job:Job {job_id: $job_id})
SET job.locked_by = $lease_id
WITH job
WHERE job.state = 'running' AND job.leased_by = $lease_id
SET job.due_at = $until
RETURN job.job_id AS job_id
