// The facts of one contact in the order of a history, newest first, after a given place: the times and the id
// of the fact at that place.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:ABOUT]-(fact:Fact)
WITH fact
MATCH (fact)
WHERE fact.last_confirmed_at < $confirmed_before
   OR (fact.last_confirmed_at = $confirmed_before AND fact.recorded_at < $recorded_before)
   OR (fact.last_confirmed_at = $confirmed_before AND fact.recorded_at = $recorded_before
       AND fact.fact_id > $after_id)
RETURN fact.fact_id AS fact_id, fact.last_confirmed_at AS last_confirmed_at,
       fact.recorded_at AS recorded_at
ORDER BY last_confirmed_at DESC, recorded_at DESC, fact_id
LIMIT $limit
