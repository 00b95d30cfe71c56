// When the next facts of the whole store expire, up to a place in that order; no row if there are fewer. Only facts
// that expire until then need to be joined with their contacts.
// mode: read
MATCH (fact:Fact)
WHERE fact.expires_at <= $until AND (fact.state = 'live' OR fact.state = 'expired')
  AND (fact.expires_at > $now
       OR ($also_expired AND fact.category <> 'volatile' AND fact.valid_to IS NULL))
RETURN fact.expires_at AS expires_at
ORDER BY expires_at
SKIP $offset LIMIT 1
