// Keys of every node, so that a MERGE takes a lock and a lookup takes an index; properties need no
// schema here.
CREATE CONSTRAINT store_key IF NOT EXISTS FOR (store:Store) REQUIRE store.store_id IS UNIQUE;
CREATE CONSTRAINT agent_key IF NOT EXISTS FOR (agent:Agent) REQUIRE agent.agent_key IS UNIQUE;
CREATE CONSTRAINT contact_key IF NOT EXISTS FOR (contact:Contact) REQUIRE contact.contact_key IS UNIQUE;
CREATE CONSTRAINT session_key IF NOT EXISTS FOR (session:Session) REQUIRE session.session_key IS UNIQUE;
CREATE CONSTRAINT fact_id IF NOT EXISTS FOR (fact:Fact) REQUIRE fact.fact_id IS UNIQUE;
CREATE CONSTRAINT episode_id IF NOT EXISTS FOR (episode:Episode) REQUIRE episode.episode_id IS UNIQUE;
CREATE CONSTRAINT decision_id IF NOT EXISTS FOR (decision:Decision) REQUIRE decision.decision_id IS UNIQUE;
CREATE CONSTRAINT job_id IF NOT EXISTS FOR (job:Job) REQUIRE job.job_id IS UNIQUE;
CREATE CONSTRAINT task_key IF NOT EXISTS FOR (task:Task) REQUIRE task.task_key IS UNIQUE;
CREATE CONSTRAINT erasure_id IF NOT EXISTS FOR (erasure:Erasure) REQUIRE erasure.erasure_id IS UNIQUE;
CREATE CONSTRAINT tombstone_key IF NOT EXISTS FOR (tombstone:Tombstone) REQUIRE tombstone.tombstone_key IS UNIQUE;
CREATE INDEX job_due IF NOT EXISTS FOR (job:Job) ON (job.state, job.due_at);
CREATE INDEX tombstone_contact IF NOT EXISTS FOR (tombstone:Tombstone) ON (tombstone.contact_key);
