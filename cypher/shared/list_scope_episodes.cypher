// All episodes of a contact, with the words of each.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`WITH`]-(session:Session)
MATCH (session)<-[:`IN`]-(episode:Episode)
RETURN session.session_key AS session_key, episode.episode_id AS episode_id,
       episode.text AS text, episode.source_reference AS source_reference
