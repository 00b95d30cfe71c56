// How many pairs of live facts, of all contacts, may contradict each other and were not settled.
// mode: read
// params:
// returns: conflicts
MATCH (new:Fact)-[conflict:CONFLICTS_WITH]->(old:Fact)
WHERE new.is_live AND old.is_live AND conflict.decided_by <> 'answer'
RETURN count(conflict) AS conflicts
