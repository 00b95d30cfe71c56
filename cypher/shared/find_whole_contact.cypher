// A contact as it is kept, for an export.
// mode: read
// params: contact_key
// returns: node
MATCH (contact:Contact {contact_key: $contact_key})
RETURN contact AS node
