// Put what is left of episodes in their place; none where they are as wanted already.
// mode: write
// params: episodes
// map episodes: episode_id, text
// script for each: each of episodes
// returns: episode_id
MATCH (episode:Episode {episode_id: $each.episode_id})
SET episode.text = $each.text,
    episode.title = caption($each.text),
    episode.source_reference = NULL, episode.is_cleaned = true
RETURN episode.episode_id AS episode_id
