// The facts that these decisions revoked; the caller checks which are still revoked.
// mode: read
// script for each: wanted_id of decision_ids
MATCH (decision:Decision {decision_id: $wanted_id})-[revoked:REVOKED]->(fact:Fact)
// embedded: join decision, revoked, fact
RETURN
       // include: fact
