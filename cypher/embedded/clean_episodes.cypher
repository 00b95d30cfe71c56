// Put texts without personal data and secrets in the place of those that were handed over. What
// somebody else changed meanwhile stays: a worker that fell behind brings nothing raw back.
// mode: write
// params: episode_ids, texts_before, texts, references
// returns: episode_id
UNWIND range(1, size($episode_ids)) AS place
WITH place, $episode_ids[place] AS cleaned_id
MATCH (episode:Episode {episode_id: cleaned_id})
WHERE episode.text = $texts_before[place]
SET episode.text = $texts[place], episode.is_cleaned = true,
    episode.source_reference = CASE WHEN $references[place] = '' THEN NULL
                                    ELSE $references[place] END
RETURN episode.episode_id AS episode_id
