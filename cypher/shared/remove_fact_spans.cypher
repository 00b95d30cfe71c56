// Remove the words that a contact's facts cite from erased episodes.
// mode: write
MATCH (contact:Contact {contact_key: $contact_key})<-[about:ABOUT]-(fact:Fact)
      -[cited:EVIDENCED_BY]->(episode:Episode)
// embedded: join contact, about, fact, cited, episode
WITH cited, episode
WHERE cited.span IS NOT NULL AND ($is_whole OR episode.episode_id IN $episode_ids)
WITH cited, episode
LIMIT $limit
SET cited.span = NULL
RETURN episode.episode_id AS episode_id
