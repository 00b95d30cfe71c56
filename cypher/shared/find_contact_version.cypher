// The contact's version, which every write raises by one; whether it is being erased; and whether anything of
// it was erased or revoked; the contact that it was merged into, and those that were merged into it. No row for
// an unknown contact; a mark that was never set is null. Each kind of expression that a process of the embedded engine
// parses first costs milliseconds, and this is the first statement of most processes: so no coalesce here.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})
RETURN contact.version AS version, contact.is_erasing AS is_erasing, contact.has_forgotten AS has_forgotten,
       contact.absorbed_into AS absorbed_into, contact.absorbed AS absorbed
