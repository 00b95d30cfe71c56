// A contact as it is kept, for an export.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})
RETURN contact AS node
