// A contact's tombstones: keyed hashes of what may not come back without a question.
// mode: read
MATCH (tombstone:Tombstone)
WHERE tombstone.contact_key = $contact_key
RETURN tombstone.tombstone_key AS tombstone_key
