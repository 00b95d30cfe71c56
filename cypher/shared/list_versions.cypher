// The versions of some contacts in one read, and what they were merged into: a recall about a contact that
// belongs to accounts asks for theirs with its own, an import for those of all its lines. No row for an unknown
// contact.
// mode: read
// kept: until a write
// script for each: contact_key of contact_keys
MATCH (contact:Contact {contact_key: $contact_key})
RETURN contact.contact_key AS contact_key, contact.version AS version,
       contact.absorbed_into AS absorbed_into
