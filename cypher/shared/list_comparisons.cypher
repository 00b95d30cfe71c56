// The neighbours that decisions looked at, with what does not change about them; in no order, since sorting
// the few rows of one decision takes the embedded engine three times as long as finding them.
// mode: read
// script for each: wanted_id of decision_ids
MATCH (decision:Decision {decision_id: $wanted_id})-[compared:COMPARED_WITH]->(fact:Fact)
RETURN
       // include: comparison
