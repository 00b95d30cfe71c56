// Jobs that wait for a worker, and those of a silent worker, the longest due first. A job that was never
// started is due at once, even if the clock at its hand-over was ahead.
// mode: read
MATCH (job:Job)
WHERE (job.state IN ['waiting', 'running'] AND job.due_at <= $now)
   OR (job.state = 'waiting' AND job.attempts = 0)
RETURN job.job_id AS job_id, job.due_at AS due_at
ORDER BY due_at
LIMIT 20
