// Replace handed-over texts by cleaned ones; is_cleaned says whether personal data was removed as well, not
// only secrets. Changes by another writer stay: a late worker brings no raw text back, and a cleaned turn
// stays marked as cleaned.
// mode: write
UNWIND range(1, size($episode_ids)) AS place
WITH place, $episode_ids[place] AS cleaned_id
MATCH (episode:Episode {episode_id: cleaned_id})
WHERE episode.text = $texts_before[place]
  AND coalesce(episode.source_reference, '') = $references_before[place]
SET
// include: cleaned_episode
RETURN episode.episode_id AS episode_id
