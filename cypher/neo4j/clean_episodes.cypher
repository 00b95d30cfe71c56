// Put texts without personal data and secrets in the place of those that were handed over.
// mode: write
// params: episode_ids, texts
// returns: episode_id
UNWIND range(0, size($episode_ids) - 1) AS place
MATCH (episode:Episode {episode_id: $episode_ids[place]})
SET episode.text = $texts[place], episode.is_cleaned = true
RETURN episode.episode_id AS episode_id
