// A memory over its life: what was erased, and what must not come back by itself. Properties need no
// schema here.
CREATE CONSTRAINT erasure_id IF NOT EXISTS FOR (erasure:Erasure) REQUIRE erasure.erasure_id IS UNIQUE;
CREATE CONSTRAINT tombstone_key IF NOT EXISTS FOR (tombstone:Tombstone) REQUIRE tombstone.tombstone_key IS UNIQUE;
CREATE INDEX tombstone_contact IF NOT EXISTS FOR (tombstone:Tombstone) ON (tombstone.contact_key);
MATCH (:Decision)-[:REVOKED]->(fact:Fact) WHERE fact.state = 'revoked'
MATCH (fact)-[:ABOUT]->(contact:Contact) SET contact.has_forgotten = true;
// What Neo4j Browser captions and colours nodes by; nothing reads it.
MATCH (agent:Agent) WHERE agent.name IS NULL SET agent.name = agent.agent_id;
MATCH (session:Session) WHERE session.title IS NULL SET session.title = session.session_id;
MATCH (episode:Episode) WHERE episode.title IS NULL
CALL (episode) {
  SET episode.title = CASE WHEN size(episode.text) <= 60 THEN episode.text ELSE left(episode.text, 59) + '…' END
} IN TRANSACTIONS OF 10000 ROWS;
MATCH (decision:Decision) WHERE decision.title IS NULL
CALL (decision) {
  SET decision.title = decision.action + ' by ' + decision.decided_by + coalesce(' ' + toString(round(decision.cosine, 2)), '')
} IN TRANSACTIONS OF 10000 ROWS;
MATCH (fact:Fact) WHERE fact.name IS NULL
CALL (fact) {
  SET fact.name = CASE WHEN size(fact.text) <= 60 THEN fact.text ELSE left(fact.text, 59) + '…' END,
      fact:$(CASE fact.state WHEN 'live' THEN [] ELSE [toUpper(left(fact.state, 1)) + substring(fact.state, 1)] END)
} IN TRANSACTIONS OF 10000 ROWS;
// Cosines that somebody looks at have four digits; the exact ones stay on decisions, and on what they
// were compared with, for a replay.
MATCH (:Fact)-[supersedes:SUPERSEDES]->(:Fact) WHERE supersedes.cosine IS NOT NULL
CALL (supersedes) { SET supersedes.cosine = round(supersedes.cosine, 4) } IN TRANSACTIONS OF 10000 ROWS;
MATCH (:Decision)-[compared:COMPARED_WITH]->(:Fact) WHERE compared.title IS NULL
CALL (compared) { SET compared.title = toString(round(compared.cosine, 4)) } IN TRANSACTIONS OF 10000 ROWS;
