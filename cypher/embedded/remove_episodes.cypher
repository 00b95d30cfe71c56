// Put what is left of episodes in their place; none where they are as wanted already.
// mode: write
UNWIND $episodes AS each
WITH each, each.episode_id AS episode_id
MATCH (episode:Episode {episode_id: episode_id})
SET episode.text = each.text, episode.source_reference = NULL, episode.is_cleaned = true
RETURN episode.episode_id AS episode_id
