// Take away the words that a contact's facts cite of episodes that are erased.
// mode: write
MATCH (contact:Contact {contact_key: $contact_key})<-[about:ABOUT]-(fact:Fact)
      -[cited:EVIDENCED_BY]->(episode:Episode)
// embedded: join contact, about, fact, cited, episode
WITH cited, episode
WHERE episode.episode_id IN $episode_ids AND cited.span IS NOT NULL
SET cited.span = NULL
RETURN DISTINCT episode.episode_id AS episode_id
