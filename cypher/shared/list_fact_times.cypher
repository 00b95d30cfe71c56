// The ids of all facts of one contact, with what the order of a history goes by.
// mode: read
// params: contact_key
// returns: fact_id, last_confirmed_at, recorded_at
MATCH (contact:Contact {contact_key: $contact_key})<-[:ABOUT]-(fact:Fact)
RETURN fact.fact_id AS fact_id, fact.last_confirmed_at AS last_confirmed_at,
       fact.recorded_at AS recorded_at
