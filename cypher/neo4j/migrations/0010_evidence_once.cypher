// A restatement took the evidence of what it says again along, as a copy of each link: n(n+1)/2 links
// for a thing said n times. Now whoever asks follows the links between the facts. A copy goes where
// the fact beneath still has the link; what a fact's own decision was made on is its own. What was
// copied from a link that is gone stays. There may be more of them than one transaction can hold.
MATCH (decision:Decision)-[:WROTE]->(new:Fact)-[again:SUPERSEDES]->(old:Fact)
WHERE coalesce(again.is_restatement, again.decided_by = 'threshold')
MATCH (new)-[copy:EVIDENCED_BY]->(episode:Episode)<-[:EVIDENCED_BY]-(old)
WHERE NOT EXISTS { (decision)-[:JUDGED]->(episode) }
CALL (copy) { DELETE copy } IN TRANSACTIONS OF 10000 ROWS;
