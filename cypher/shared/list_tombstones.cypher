// What a contact's memory is not to hold again unasked: keyed hashes that hide the words.
// mode: read
MATCH (tombstone:Tombstone)
WHERE tombstone.contact_key = $contact_key
RETURN tombstone.tombstone_key AS tombstone_key
