// Replace handed-over texts by cleaned ones; is_cleaned says whether personal data was removed as well, not
// only secrets. Changes by another writer stay: a late worker brings no raw text back, and a cleaned turn
// stays marked as cleaned.
// mode: write
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
RETURN episode.episode_id AS episode_id
