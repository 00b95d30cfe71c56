// Take a job that is due; no row means that another worker did. The first SET takes the lock, and the query
// checks only then whether the job is still due, so one of two workers finds it taken. If the answer was lost
// and the call repeated, the job has this lease already, and the attempt counts once.
// mode: write
MATCH (job:Job {job_id: $job_id})
SET job.locked_by = $lease_id
WITH job
WHERE (job.state IN ['waiting', 'running'] AND job.due_at <= $now)
   OR (job.state = 'waiting' AND job.attempts = 0)
   OR (job.state = 'running' AND job.leased_by = $lease_id)
SET job.attempts = job.attempts + CASE WHEN job.leased_by = $lease_id THEN 0 ELSE 1 END
SET job.state = 'running', job.leased_by = $lease_id, job.due_at = $until
RETURN
       // include: job
