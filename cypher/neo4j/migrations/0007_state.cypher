// Where a fact stands, in one word. What was live stays so, also where its lifetime is over: the next
// commit about the contact writes that.
MATCH (:Decision)-[:REVOKED]->(fact:Fact) WHERE fact.state IS NULL
SET fact.state = 'revoked'
REMOVE fact.is_live;
MATCH (fact:Fact) WHERE fact.state IS NULL
SET fact.state = CASE WHEN fact.is_live THEN 'live' ELSE 'superseded' END
REMOVE fact.is_live;
