// Replace episodes by what an erasure leaves of them; no row for one that needs no change.
// mode: write
// script for each: each of episodes
MATCH (episode:Episode {episode_id: $each.episode_id})
SET episode.text = $each.text,
    episode.title = caption($each.text),
    episode.source_reference = NULL, episode.is_cleaned = true
RETURN episode.episode_id AS episode_id
