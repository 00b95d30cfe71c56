// When the next facts of the whole store expire, whatever their state, up to a place in that order; no row if there
// are fewer. Only facts that expire until then need to be joined with their contacts. Without another column it is
// an eighth of the look.
// mode: read
MATCH (fact:Fact)
WHERE fact.expires_at > $now AND fact.expires_at <= $until
RETURN fact.expires_at AS expires_at
ORDER BY expires_at
SKIP $offset LIMIT 1
