// Add to the contacts' counts of recalls, and of recalls that found nothing. No version changes, so that no
// writer has to look again; an unknown contact is not created.
// mode: write
// script for each: each of asked
MATCH (contact:Contact {contact_key: $each.contact_key})
SET contact.recalls = coalesce(contact.recalls, 0) + $each.recalls,
    contact.empty_recalls = coalesce(contact.empty_recalls, 0) + $each.empty_recalls
RETURN contact.contact_key AS contact_key
