// Have a dead job, or one that waits, begun anew now; no row means that it is neither.
// mode: write
// params: job_id, at
// returns: job_id
MATCH (job:Job {job_id: $job_id})
SET job.locked_by = 'retry'
WITH job
WHERE job.state IN ['dead', 'waiting']
SET job.state = 'waiting', job.attempts = 0, job.due_at = $at
RETURN job.job_id AS job_id
