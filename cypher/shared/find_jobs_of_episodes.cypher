// The jobs that read these turns, the newest first.
// mode: read
UNWIND $episode_ids AS wanted_id
MATCH (episode:Episode {episode_id: wanted_id})
WITH DISTINCT episode.job_id AS wanted_job_id
MATCH (job:Job {job_id: wanted_job_id})
RETURN job.job_id AS job_id, job.state AS state, job.submitted_at AS submitted_at
ORDER BY submitted_at DESC, job_id
