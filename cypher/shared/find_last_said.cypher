// When the contact was heard of last, as far as the graph knows; null while nothing was said.
// mode: read
// params: contact_key
// returns: said_at
MATCH (contact:Contact {contact_key: $contact_key})<-[:`WITH`]-(session:Session)
RETURN max(session.ended_at) AS said_at
