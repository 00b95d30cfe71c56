// Replace episodes by what an erasure leaves of them; no row for one that needs no change.
// mode: write
UNWIND $episodes AS each
WITH each, each.episode_id AS episode_id
MATCH (episode:Episode {episode_id: episode_id})
SET episode.text = each.text, episode.source_reference = NULL, episode.is_cleaned = true
RETURN episode.episode_id AS episode_id
