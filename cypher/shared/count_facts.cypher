// Count the store's facts by their present state. A lifetime ends without a write, so the time decides
// whether a fact that has not ended is live.
// mode: read
MATCH (fact:Fact)
WITH CASE WHEN NOT fact.state IN ['live', 'expired'] THEN fact.state
          WHEN coalesce(fact.expires_at > $now, true) THEN 'live' ELSE 'expired' END AS state
RETURN state, count(*) AS facts
