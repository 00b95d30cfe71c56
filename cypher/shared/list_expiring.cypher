// The live facts of some contacts that expire after now and until then, the next one first.
// mode: read
// params: contact_keys, now, until, limit
// returns: contact_key, columns of fact
MATCH (contact:Contact)<-[:ABOUT]-(fact:Fact)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_key AS contact_key, fact
MATCH (fact)
WHERE fact.state IN ['live', 'expired'] AND fact.expires_at > $now AND fact.expires_at <= $until
RETURN contact_key,
       // include: fact
ORDER BY expires_at, contact_key, fact_id
LIMIT $limit
