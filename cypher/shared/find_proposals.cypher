// The proposals that were already read from a job's session; null if there are none.
// mode: read
MATCH (job:Job {job_id: $job_id})
RETURN job.extractor AS extractor, job.proposals AS proposals, job.summary AS summary
