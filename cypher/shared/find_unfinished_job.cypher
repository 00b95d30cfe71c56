// A job that somebody may wait for: one that runs, or that waits, and is due by a time that its policy
// can have given it. What is due later was given its time by a clock that is ahead.
// mode: read
MATCH (job:Job)
WHERE (job.state = 'running' AND job.due_at <= $leased_until)
   OR (job.state = 'waiting' AND (job.attempts = 0 OR job.due_at <= $due_until))
RETURN job.job_id AS job_id
LIMIT 1
