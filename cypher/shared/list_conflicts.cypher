// Which facts of a contact that are live now may contradict each other, each pair once. A lifetime
// ends without a write, so the time decides, whatever is written.
// mode: read
// params: contact_key, now
// returns: new_id, old_id, reason, at
MATCH (contact:Contact {contact_key: $contact_key})<-[:ABOUT]-(new:Fact)
MATCH (new)-[conflict:CONFLICTS_WITH]->(old:Fact)
WITH new, conflict, old
WHERE new.state IN ['live', 'expired'] AND old.state IN ['live', 'expired']
  AND coalesce(new.expires_at > $now, true) AND coalesce(old.expires_at > $now, true)
RETURN new.fact_id AS new_id, old.fact_id AS old_id, conflict.reason AS reason, conflict.at AS at
