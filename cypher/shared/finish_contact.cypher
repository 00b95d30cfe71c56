// End the restoring of a contact: from here on it is as it was exported. No row means that somebody
// else wrote about it meanwhile.
// mode: write
MATCH (contact:Contact {contact_key: $contact_key})
SET contact.name = contact.name
WITH contact
WHERE contact.version = $version
SET contact += $node
RETURN contact.contact_key AS contact_key
