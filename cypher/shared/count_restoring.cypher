// How many contacts are not there whole, because a restore is under way or was cut off: their version
// counts its pages.
// mode: read
MATCH (contact:Contact)
WHERE contact.version < 0
RETURN count(contact) AS contacts
