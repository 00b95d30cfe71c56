// What a contact's memory is not to hold again unasked: keyed hashes, from which nobody can read it.
// mode: read
MATCH (tombstone:Tombstone)
WHERE tombstone.contact_key = $contact_key
RETURN tombstone.tombstone_key AS tombstone_key
