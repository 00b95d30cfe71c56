// Put texts without personal data and secrets in the place of those that were handed over. What
// somebody else changed meanwhile stays: a worker that fell behind brings nothing raw back.
// mode: write
// params: episode_ids, texts_before, texts, references
// returns: episode_id
UNWIND range(0, size($episode_ids) - 1) AS place
MATCH (episode:Episode {episode_id: $episode_ids[place]})
// The lock comes first: else what was erased between the look and the write came back.
SET episode.text = episode.text
WITH place, episode
WHERE episode.text = $texts_before[place]
SET episode.text = $texts[place], episode.is_cleaned = true,
    episode.title = caption($texts[place]),
    episode.source_reference = CASE WHEN $references[place] = '' THEN NULL
                                    ELSE $references[place] END
RETURN episode.episode_id AS episode_id
