// When the contact was heard of last, as far as the graph knows; no row while it never was.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`WITH`]-(session:Session)
RETURN session.ended_at AS said_at
ORDER BY said_at DESC
LIMIT 1
