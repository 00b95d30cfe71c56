// Take away the words that decisions about a contact cite of episodes that are erased.
// mode: write
MATCH (contact:Contact {contact_key: $contact_key})<-[made:`FOR`]-(decision:Decision)
      -[cited:JUDGED]->(episode:Episode)
// embedded: join contact, made, decision, cited, episode
WITH cited, episode
WHERE episode.episode_id IN $episode_ids AND cited.span IS NOT NULL
SET cited.span = NULL
RETURN DISTINCT episode.episode_id AS episode_id
