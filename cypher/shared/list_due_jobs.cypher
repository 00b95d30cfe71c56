// Jobs that wait for a worker, and those whose worker fell silent, the longest due first. One that was
// never begun has nothing to wait for, whatever the clock says that it was handed over by.
// mode: read
MATCH (job:Job)
WHERE (job.state IN ['waiting', 'running'] AND job.due_at <= $now)
   OR (job.state = 'waiting' AND job.attempts = 0)
RETURN job.job_id AS job_id, job.due_at AS due_at
ORDER BY due_at
LIMIT 20
