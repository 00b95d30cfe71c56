// A memory over its life: how facts are used, and what they point to; the vectors of a model that
// the store moves to; what was erased, and what must not come back by itself.
ALTER TABLE Fact ADD IF NOT EXISTS last_recalled_at TIMESTAMP;
ALTER TABLE Fact ADD IF NOT EXISTS recall_count INT64;
ALTER TABLE Fact ADD IF NOT EXISTS artefact STRING;
ALTER TABLE Fact ADD IF NOT EXISTS next_embedding_model STRING;
ALTER TABLE Fact ADD IF NOT EXISTS next_embedding_bytes BLOB;
ALTER TABLE Fact ADD IF NOT EXISTS next_embedding FLOAT[1];
ALTER TABLE Store ADD IF NOT EXISTS next_embedding_model STRING;
ALTER TABLE Store ADD IF NOT EXISTS next_embedding_dimension INT64;
ALTER TABLE Task ADD IF NOT EXISTS outcome_id STRING;
CREATE NODE TABLE IF NOT EXISTS Erasure(
  erasure_id STRING PRIMARY KEY, tenant STRING, agent_id STRING, contact_key STRING,
  target_kind STRING, target STRING, state STRING, `by` STRING, reason STRING,
  started_at TIMESTAMP, finished_at TIMESTAMP, plan STRING, receipt STRING);
CREATE NODE TABLE IF NOT EXISTS Tombstone(
  tombstone_key STRING PRIMARY KEY, contact_key STRING, erasure_id STRING, at TIMESTAMP);
CREATE REL TABLE IF NOT EXISTS ERASES(FROM Erasure TO Contact);
ALTER TABLE Contact ADD IF NOT EXISTS is_erasing BOOLEAN;
ALTER TABLE Contact ADD IF NOT EXISTS has_forgotten BOOLEAN;
ALTER TABLE Contact ADD IF NOT EXISTS recalls INT64;
ALTER TABLE Contact ADD IF NOT EXISTS empty_recalls INT64;
ALTER TABLE Session ADD IF NOT EXISTS erased_at TIMESTAMP;
ALTER TABLE Agent ADD IF NOT EXISTS name STRING;
MATCH (agent:Agent) SET agent.name = agent.agent_id;
MATCH (:Decision)-[:REVOKED]->(fact:Fact) WHERE fact.state = 'revoked'
MATCH (fact)-[:ABOUT]->(contact:Contact) SET contact.has_forgotten = true;
// The exact ones stay on decisions.
MATCH (:Fact)-[supersedes:SUPERSEDES]->(:Fact) SET supersedes.cosine = round(supersedes.cosine, 4);
