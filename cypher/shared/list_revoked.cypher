// What these decisions revoked; the caller looks at which of it is revoked still.
// mode: read
// script for each: wanted_id of decision_ids
MATCH (decision:Decision {decision_id: $wanted_id})-[revoked:REVOKED]->(fact:Fact)
// embedded: join decision, revoked, fact
RETURN
       // include: fact
