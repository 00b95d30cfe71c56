// The neighbours that decisions looked at, with what does not change about them.
// mode: read
// script for each: wanted_id of decision_ids
MATCH (decision:Decision {decision_id: $wanted_id})-[compared:COMPARED_WITH]->(fact:Fact)
RETURN
       // include: comparison
ORDER BY decision_id, rank
