// Facts, decisions and the links between facts name their contact, so that indexes which begin with it
// give a page of a history, or the open questions, without reading anything else about the contact.
CREATE INDEX fact_order IF NOT EXISTS FOR (fact:Fact) ON (fact.contact_key, fact.last_confirmed_at);
CREATE INDEX decision_action IF NOT EXISTS FOR (decision:Decision) ON (decision.contact_key, decision.action);
CREATE INDEX decision_door IF NOT EXISTS FOR (decision:Decision) ON (decision.contact_key, decision.door);
CREATE INDEX supersedes_contact IF NOT EXISTS FOR ()-[link:SUPERSEDES]-() ON (link.contact_key);
CREATE INDEX conflict_contact IF NOT EXISTS FOR ()-[link:CONFLICTS_WITH]-() ON (link.contact_key);

// Twenty contacts at a time, each in a transaction, which must end before a query times out and fit into the
// server's memory.
MATCH (contact:Contact) WHERE contact.contact_key > $after
WITH contact ORDER BY contact.contact_key LIMIT 20
CALL (contact) {
  OPTIONAL MATCH (contact)<-[:ABOUT|`FOR`]-(own) WHERE own.contact_key IS NULL
  SET own.contact_key = contact.contact_key
  WITH DISTINCT contact
  MATCH (contact)<-[:ABOUT]-(:Fact)-[link:SUPERSEDES|CONFLICTS_WITH]->(:Fact)
  WHERE link.contact_key IS NULL
  SET link.contact_key = contact.contact_key
} IN TRANSACTIONS OF 1 ROW
WITH max(contact.contact_key) AS after, count(contact) AS contacts
WHERE contacts > 0
RETURN after, contacts;
