// Take a contact's name away; its id stays.
// mode: write
// params: contact_key
// returns: contact_key
MATCH (contact:Contact {contact_key: $contact_key})
SET contact.name = contact.contact_id
RETURN contact.contact_key AS contact_key
