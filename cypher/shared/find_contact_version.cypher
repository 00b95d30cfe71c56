// The contact's version, which every write moves by one; no row while nothing is known of it.
// mode: read
// params: contact_key
// returns: version
MATCH (contact:Contact {contact_key: $contact_key})
RETURN contact.version AS version
