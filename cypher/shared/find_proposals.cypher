// What was read out of a job's session already; null where nothing was.
// mode: read
MATCH (job:Job {job_id: $job_id})
RETURN job.extractor AS extractor, job.proposals AS proposals, job.summary AS summary
