// All facts of the store, by their state now. A lifetime ends without a write, so of what has not
// ended the time decides.
// mode: read
MATCH (fact:Fact)
WITH CASE WHEN NOT fact.state IN ['live', 'expired'] THEN fact.state
          WHEN coalesce(fact.expires_at > $now, true) THEN 'live' ELSE 'expired' END AS state
RETURN state, count(*) AS facts
