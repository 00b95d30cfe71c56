// Jobs that wait for a worker, and those whose worker fell silent, the longest due first.
// mode: read
// params: now
// returns: job_id, due_at
MATCH (job:Job)
WHERE job.state IN ['waiting', 'running'] AND job.due_at <= $now
RETURN job.job_id AS job_id, job.due_at AS due_at
ORDER BY due_at
LIMIT 20
