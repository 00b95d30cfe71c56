// Remove the words that decisions about a contact cite from erased episodes.
// mode: write
MATCH (contact:Contact {contact_key: $contact_key})<-[made:`FOR`]-(decision:Decision)
      -[cited:JUDGED]->(episode:Episode)
// embedded: join contact, made, decision, cited, episode
WITH cited, episode
WHERE cited.span IS NOT NULL AND ($is_whole OR episode.episode_id IN $episode_ids)
WITH cited, episode
LIMIT $limit
SET cited.span = NULL
RETURN episode.episode_id AS episode_id
