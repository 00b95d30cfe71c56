// Count the store's jobs by state.
// mode: read
MATCH (job:Job)
RETURN job.state AS state, count(job) AS jobs, sum(job.attempts) AS attempts,
       min(job.submitted_at) AS oldest_at, sum(coalesce(job.added, 0)) AS added,
       sum(coalesce(job.superseding, 0)) AS superseding, sum(coalesce(job.known, 0)) AS known,
       sum(coalesce(job.held, 0)) AS held, sum(coalesce(job.refused, 0)) AS refused,
       sum(coalesce(job.left_out, 0)) AS left_out
