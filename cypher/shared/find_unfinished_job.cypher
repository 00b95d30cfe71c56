// A job worth waiting for: it runs, or it waits and is due by a time that its policy can set. A later due
// time came from a clock that was ahead.
// mode: read
MATCH (job:Job)
WHERE (job.state = 'running' AND job.due_at <= $leased_until)
   OR (job.state = 'waiting' AND (job.attempts = 0 OR job.due_at <= $due_until))
RETURN job.job_id AS job_id
LIMIT 1
