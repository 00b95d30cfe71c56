// A contact's stored record, for an export.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})
RETURN contact AS node
