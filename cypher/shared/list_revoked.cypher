// What these decisions revoked; the caller looks at which of it is revoked still.
// mode: read
// params: decision_ids
// script for each: wanted_id of decision_ids
// returns: columns of fact
MATCH (decision:Decision {decision_id: $wanted_id})-[:REVOKED]->(fact:Fact)
RETURN
       // include: fact
