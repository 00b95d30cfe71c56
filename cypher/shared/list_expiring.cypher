// The facts of some contacts that expire between now and a given time, the next one first. On request, the
// expired facts that recall still shows come before them. Only ids go through the sort; then each fact is looked
// up.
// mode: read
MATCH (contact:Contact)<-[:ABOUT]-(fact:Fact)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_key AS contact_key, contact.contact_id AS contact_id, fact
MATCH (fact)
WHERE fact.state IN ['live', 'expired'] AND fact.expires_at <= $until
  AND (fact.expires_at > $now
       OR ($also_expired AND fact.category <> 'volatile' AND fact.valid_to IS NULL))
WITH contact_key, contact_id, fact.fact_id AS wanted_id, fact.expires_at AS expires_at
ORDER BY expires_at, contact_key, wanted_id
LIMIT $limit
MATCH (fact:Fact {fact_id: wanted_id})
RETURN contact_key, contact_id,
       // include: fact
