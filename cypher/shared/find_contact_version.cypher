// The contact's version, which every write moves by one, whether it is being erased, and whether
// anything of it was erased or revoked; no row while nothing is known of it.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})
RETURN contact.version AS version, coalesce(contact.is_erasing, false) AS is_erasing,
       coalesce(contact.has_forgotten, false) AS has_forgotten
