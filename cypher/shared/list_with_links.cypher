// Which sessions are a contact's own, for an export; one of a task may be nobody's yet.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`WITH`]-(session:Session)
WITH contact, session
WHERE session.session_key > $after AND session.session_key <= $until
RETURN session.session_key AS from_id, contact.contact_key AS to_id
ORDER BY from_id, to_id
