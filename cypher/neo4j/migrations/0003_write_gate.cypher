// What was decided before there was a gate was admitted.
MATCH (decision:Decision) WHERE decision.disposal IS NULL
SET decision.disposal = 'admit';
