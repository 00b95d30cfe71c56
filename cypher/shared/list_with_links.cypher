// The sessions that belong to a contact, for an export; a task's session may belong to no contact yet.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`WITH`]-(session:Session)
WITH contact, session
WHERE session.session_key > $after AND session.session_key <= $until
RETURN session.session_key AS from_id, contact.contact_key AS to_id
ORDER BY from_id, to_id
