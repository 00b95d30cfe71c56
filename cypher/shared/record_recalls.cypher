// Add to how often contacts were asked about, and how often nothing was found. No contact's version
// moves for it, so that no writer has to look again; a contact that is unknown stays unknown.
// mode: write
// script for each: each of asked
MATCH (contact:Contact {contact_key: $each.contact_key})
SET contact.recalls = coalesce(contact.recalls, 0) + $each.recalls,
    contact.empty_recalls = coalesce(contact.empty_recalls, 0) + $each.empty_recalls
RETURN contact.contact_key AS contact_key
