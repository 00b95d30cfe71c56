// Where a fact stands, in one word; whether it was never true; which decision undid which. What was
// live stays so, also where its lifetime is over: the next commit about the contact writes that. The
// column that said so before stays, and nothing reads it: see 0006.
ALTER TABLE Fact ADD IF NOT EXISTS state STRING;
ALTER TABLE Fact ADD IF NOT EXISTS is_void BOOLEAN;
CREATE REL TABLE IF NOT EXISTS REVERTED(FROM Decision TO Decision);
MATCH (:Decision)-[:REVOKED]->(fact:Fact) WHERE fact.state IS NULL SET fact.state = 'revoked';
MATCH (fact:Fact) WHERE fact.state IS NULL
SET fact.state = CASE WHEN fact.is_live THEN 'live' ELSE 'superseded' END;
