// How many pairs of live facts, of all contacts, may contradict each other and were not settled; no
// row where there is none. A lifetime ends without a write, so the time decides, whatever is written.
// mode: read
MATCH (new:Fact)-[conflict:CONFLICTS_WITH]->(old:Fact)
WHERE new.state IN ['live', 'expired'] AND old.state IN ['live', 'expired']
  AND coalesce(new.expires_at > $now, true) AND coalesce(old.expires_at > $now, true)
  AND conflict.decided_by <> 'answer'
WITH count(conflict) AS conflicts
WHERE conflicts > 0
RETURN conflicts
