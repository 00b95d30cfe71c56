// Count the incomplete contacts: a restore is under way or was interrupted, and their version counts its
// pages.
// mode: read
MATCH (contact:Contact)
WHERE contact.version < 0
RETURN count(contact) AS contacts
