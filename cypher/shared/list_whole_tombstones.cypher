// A page of what must not come back by itself about a contact, for an export.
// mode: read
// params: contact_key, after, limit
// returns: node_id, node
MATCH (tombstone:Tombstone)
WHERE tombstone.contact_key = $contact_key AND tombstone.tombstone_key > $after
RETURN tombstone.tombstone_key AS node_id, tombstone AS node
ORDER BY node_id
LIMIT $limit
