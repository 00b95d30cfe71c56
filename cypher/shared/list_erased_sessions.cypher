// The contact's erased sessions, which must not be handed over again.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`WITH`]-(session:Session)
WHERE session.erased_at IS NOT NULL
RETURN session.session_id AS session_id
