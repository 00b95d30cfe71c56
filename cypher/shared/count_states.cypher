// The facts of some contacts, counted by their state now; no row for a contact without one. A
// lifetime ends without a write, so of what has not ended the time decides.
// mode: read
MATCH (contact:Contact)<-[:ABOUT]-(fact:Fact)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_id AS contact_id, fact
MATCH (fact)
WITH contact_id, CASE WHEN NOT fact.state IN ['live', 'expired'] THEN fact.state
                      WHEN coalesce(fact.expires_at > $now, true) THEN 'live'
                      ELSE 'expired' END AS state
RETURN contact_id, state, count(*) AS facts
