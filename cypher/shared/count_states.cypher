// Count the facts of some contacts by their present state; no row for a contact without facts. A lifetime
// ends without a write, so the time decides whether a fact that has not ended is live.
// mode: read
MATCH (contact:Contact)<-[:ABOUT]-(fact:Fact)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_id AS contact_id, fact
MATCH (fact)
WITH contact_id, CASE WHEN NOT fact.state IN ['live', 'expired'] THEN fact.state
                      WHEN coalesce(fact.expires_at > $now, true) THEN 'live'
                      ELSE 'expired' END AS state
RETURN contact_id, state, count(*) AS facts
