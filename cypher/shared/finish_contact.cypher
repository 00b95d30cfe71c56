// Finish restoring a contact: from now on it equals the exported one. No row means that another writer
// changed it meanwhile.
// mode: write
MATCH (contact:Contact {contact_key: $contact_key})
SET contact.name = contact.name
WITH contact
WHERE contact.version = $version
SET contact += $node
RETURN contact.contact_key AS contact_key
