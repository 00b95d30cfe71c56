// Keep an extractor's proposals, so that a later attempt neither asks again nor gets other ones.
// mode: write
MATCH (job:Job {job_id: $job_id})
SET job.locked_by = $lease_id
WITH job
WHERE job.state = 'running' AND job.leased_by = $lease_id
SET job.extractor = $extractor, job.proposals = $proposals, job.summary = $summary
RETURN job.job_id AS job_id
