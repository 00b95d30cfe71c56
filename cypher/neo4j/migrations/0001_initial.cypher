// Keys of every node, so that a MERGE takes a lock and a lookup takes an index.
CREATE CONSTRAINT store_key IF NOT EXISTS FOR (store:Store) REQUIRE store.store_id IS UNIQUE;
CREATE CONSTRAINT agent_key IF NOT EXISTS FOR (agent:Agent) REQUIRE agent.agent_key IS UNIQUE;
CREATE CONSTRAINT contact_key IF NOT EXISTS FOR (contact:Contact) REQUIRE contact.contact_key IS UNIQUE;
CREATE CONSTRAINT session_key IF NOT EXISTS FOR (session:Session) REQUIRE session.session_key IS UNIQUE;
CREATE CONSTRAINT fact_id IF NOT EXISTS FOR (fact:Fact) REQUIRE fact.fact_id IS UNIQUE;
CREATE CONSTRAINT episode_id IF NOT EXISTS FOR (episode:Episode) REQUIRE episode.episode_id IS UNIQUE;
CREATE CONSTRAINT decision_id IF NOT EXISTS FOR (decision:Decision) REQUIRE decision.decision_id IS UNIQUE;
