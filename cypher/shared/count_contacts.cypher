// How many contacts the store has, also such as are being restored.
// mode: read
MATCH (contact:Contact)
RETURN count(contact) AS contacts
