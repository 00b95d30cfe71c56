// What a cleaning sets on an episode; the texts are given as lists.
episode.text = $texts[place],
episode.is_cleaned = coalesce(episode.is_cleaned, false) OR $are_cleaned[place],
episode.source_reference = CASE WHEN $references[place] = '' THEN NULL ELSE $references[place] END
