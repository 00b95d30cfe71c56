// Mark a job as done, and count the outcomes of its candidates on it and on its session, once.
// mode: write
MATCH (job:Job {job_id: $job_id})-[reads:READS]->(session:Session)
// embedded: join job, reads, session
SET job.locked_by = $lease_id
WITH job, session
WHERE job.state = 'running' AND job.leased_by = $lease_id
SET job.state = 'done', job.finished_at = $at, job.due_at = $at, job.added = $added,
    job.superseding = $superseding, job.known = $known, job.held = $held,
    job.refused = $refused, job.left_out = $left_out,
    session.summary = CASE WHEN job.summary = '' THEN session.summary
                           WHEN session.summary IS NULL THEN job.summary
                           ELSE session.summary + ' ' + job.summary END,
    session.added = coalesce(session.added, 0) + $added,
    session.superseding = coalesce(session.superseding, 0) + $superseding,
    session.known = coalesce(session.known, 0) + $known,
    session.held = coalesce(session.held, 0) + $held,
    session.refused = coalesce(session.refused, 0) + $refused,
    session.left_out = coalesce(session.left_out, 0) + $left_out
RETURN job.job_id AS job_id
