// Keep an extractor's proposals, so that a later attempt neither asks again nor gets other ones; in the same
// transaction the turns lose what only the proposals keep. A turn that changed meanwhile stays as it is.
// mode: write
MATCH (job:Job {job_id: $job_id})
SET job.locked_by = $lease_id
WITH job
WHERE job.state = 'running' AND job.leased_by = $lease_id
SET job.extractor = $extractor, job.proposals = $proposals, job.summary = $summary
WITH job
CALL () {
  UNWIND range(0, size($episode_ids) - 1) AS place
  MATCH (episode:Episode {episode_id: $episode_ids[place]})
  // The lock comes first: otherwise a text that was erased between the look and the write would come back.
  SET episode.text = episode.text
  WITH place, episode
  WHERE episode.text = $texts_before[place]
    AND coalesce(episode.source_reference, '') = $references_before[place]
  SET
  episode.title = caption($texts[place]),
  // include: cleaned_episode
}
RETURN job.job_id AS job_id
