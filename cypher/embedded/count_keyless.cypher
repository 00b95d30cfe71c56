// None: here a contact's facts and decisions lie together, and hold no key of it.
// mode: read
RETURN 0 AS nodes
