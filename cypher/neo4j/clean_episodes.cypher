// Put cleaned texts in the place of those that were handed over; is_cleaned says whether personal
// data is out of them as well, and not secrets alone. What somebody else changed meanwhile stays: a
// worker that fell behind brings nothing raw back, and what is cleaned once stays marked so.
// mode: write
UNWIND range(0, size($episode_ids) - 1) AS place
MATCH (episode:Episode {episode_id: $episode_ids[place]})
// The lock comes first: else what was erased between the look and the write came back.
SET episode.text = episode.text
WITH place, episode
WHERE episode.text = $texts_before[place]
  AND coalesce(episode.source_reference, '') = $references_before[place]
SET episode.text = $texts[place],
    episode.is_cleaned = coalesce(episode.is_cleaned, false) OR $are_cleaned[place],
    episode.title = caption($texts[place]),
    episode.source_reference = CASE WHEN $references[place] = '' THEN NULL
                                    ELSE $references[place] END
RETURN episode.episode_id AS episode_id
