// A page of some contacts' tombstones, for an export.
// mode: read
MATCH (tombstone:Tombstone)
WHERE tombstone.contact_key IN $contact_keys AND tombstone.tombstone_key > $after
RETURN tombstone.contact_key AS contact_key, tombstone.tombstone_key AS node_id, tombstone AS node
ORDER BY node_id
LIMIT $limit
