// A job in its present state; counts not yet made are 0.
job.job_id AS job_id, job.tenant AS tenant, job.agent_id AS agent_id,
job.contact_id AS contact_id, job.session_id AS session_id, job.state AS state,
job.attempts AS attempts, job.submitted_at AS submitted_at, job.due_at AS due_at,
job.finished_at AS finished_at, job.extractor AS extractor, job.last_error AS last_error,
coalesce(job.added, 0) AS added, coalesce(job.superseding, 0) AS superseding,
coalesce(job.known, 0) AS known, coalesce(job.held, 0) AS held,
coalesce(job.refused, 0) AS refused, coalesce(job.left_out, 0) AS left_out
