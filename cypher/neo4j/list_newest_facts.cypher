// The facts of one contact in the order of a history, newest first, after a given place: the times and the id
// of the fact at that place. The index `fact_order` gives them in the order of their first time, so a page
// reads only a page, as long as ORDER BY names all properties of the index, the contact too. The first bound
// adds nothing to the others; the index starts there.
// mode: read
MATCH (fact:Fact)
WHERE fact.contact_key = $contact_key AND fact.last_confirmed_at <= $confirmed_before
  AND (fact.last_confirmed_at < $confirmed_before
       OR fact.recorded_at < $recorded_before
       OR (fact.recorded_at = $recorded_before AND fact.fact_id > $after_id))
RETURN fact.fact_id AS fact_id, fact.last_confirmed_at AS last_confirmed_at,
       fact.recorded_at AS recorded_at
ORDER BY fact.contact_key DESC, last_confirmed_at DESC, recorded_at DESC, fact_id
LIMIT $limit
