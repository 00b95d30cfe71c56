// The contact's version, which every write raises by one; whether it is being erased; and whether anything of
// it was erased or revoked; the contact that it was merged into, and those that were merged into it. No row for
// an unknown contact.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})
RETURN contact.version AS version, coalesce(contact.is_erasing, false) AS is_erasing,
       coalesce(contact.has_forgotten, false) AS has_forgotten,
       contact.absorbed_into AS absorbed_into, contact.absorbed AS absorbed
