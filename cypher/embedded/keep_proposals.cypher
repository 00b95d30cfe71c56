// Keep an extractor's proposals, so that a later attempt neither asks again nor gets other ones; in the same
// transaction the turns lose what only the proposals keep. A turn that changed meanwhile stays as it is.
// mode: write
MATCH (job:Job {job_id: $job_id})
SET job.locked_by = $lease_id
WITH job
WHERE job.state = 'running' AND job.leased_by = $lease_id
SET job.extractor = $extractor, job.proposals = $proposals, job.summary = $summary
RETURN job.job_id AS job_id;
// only when episode_ids is not empty
UNWIND range(1, size($episode_ids)) AS place
WITH place, $episode_ids[place] AS cleaned_id
MATCH (episode:Episode {episode_id: cleaned_id})
WHERE episode.text = $texts_before[place]
  AND coalesce(episode.source_reference, '') = $references_before[place]
SET
// include: cleaned_episode
