// Always none: here a contact's facts and decisions lie together, and hold no key of the contact.
// mode: read
RETURN 0 AS nodes
