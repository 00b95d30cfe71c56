// Remove what was read for jobs, and their errors; is_ended also ends the jobs.
// mode: write
UNWIND $job_ids AS job_id
MATCH (job:Job {job_id: job_id})
SET job.proposals = CASE WHEN job.state = 'done' OR $is_ended THEN NULL ELSE job.proposals END,
    job.summary = NULL, job.last_error = NULL,
    job.finished_at = CASE WHEN $is_ended THEN coalesce(job.finished_at, $at)
                           ELSE job.finished_at END,
    job.state = CASE WHEN $is_ended THEN 'done' ELSE job.state END
RETURN job.job_id AS job_id
