// Count the episodes of some contacts.
// mode: read
MATCH (contact:Contact)<-[:`WITH`]-(session:Session)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_key AS contact_key, session
OPTIONAL MATCH (session)<-[:`IN`]-(episode:Episode)
RETURN contact_key, count(DISTINCT session) AS sessions, count(episode) AS episodes
