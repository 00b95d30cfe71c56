// What these decisions revoked; whoever reads this looks at which of it is revoked still.
// mode: read
// script for each: wanted_id of decision_ids
MATCH (decision:Decision {decision_id: $wanted_id})-[:REVOKED]->(fact:Fact)
RETURN
       // include: fact
