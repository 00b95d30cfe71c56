// Count the store's contacts, including those that are being restored.
// mode: read
MATCH (contact:Contact)
RETURN count(contact) AS contacts
