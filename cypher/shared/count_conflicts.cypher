// Count the unsettled pairs of live facts, of all contacts, that may contradict each other; no row if there
// is none. A lifetime ends without a write, so the time decides, not the written state.
// mode: read
MATCH (new:Fact)-[conflict:CONFLICTS_WITH]->(old:Fact)
WHERE new.state IN ['live', 'expired'] AND old.state IN ['live', 'expired']
  AND coalesce(new.expires_at > $now, true) AND coalesce(old.expires_at > $now, true)
  AND conflict.decided_by <> 'answer'
WITH count(conflict) AS conflicts
WHERE conflicts > 0
RETURN conflicts
