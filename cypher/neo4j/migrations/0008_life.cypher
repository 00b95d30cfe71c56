// A memory over its life: what was erased, and what must not come back by itself. Properties need no
// schema here.
CREATE CONSTRAINT erasure_id IF NOT EXISTS FOR (erasure:Erasure) REQUIRE erasure.erasure_id IS UNIQUE;
CREATE CONSTRAINT tombstone_key IF NOT EXISTS FOR (tombstone:Tombstone) REQUIRE tombstone.tombstone_key IS UNIQUE;
CREATE INDEX tombstone_contact IF NOT EXISTS FOR (tombstone:Tombstone) ON (tombstone.contact_key);
MATCH (:Decision)-[:REVOKED]->(fact:Fact) WHERE fact.state = 'revoked'
MATCH (fact)-[:ABOUT]->(contact:Contact) SET contact.has_forgotten = true;
