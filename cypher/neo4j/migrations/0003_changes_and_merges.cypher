// Tokens of a store, and the ids of merged contacts, need no schema here.
// A decision or an erasure is unplaced until a reader of changes gives it the next place and removes the
// mark. So a writer pays for the mark alone: the index of places has only nodes with both of its properties.
CREATE CONSTRAINT webhook_name IF NOT EXISTS FOR (webhook:Webhook) REQUIRE webhook.name IS UNIQUE;
CREATE INDEX decision_unplaced IF NOT EXISTS FOR (decision:Decision) ON (decision.unplaced);
CREATE INDEX decision_place IF NOT EXISTS FOR (decision:Decision) ON (decision.agent_key, decision.place);
CREATE INDEX erasure_unplaced IF NOT EXISTS FOR (erasure:Erasure) ON (erasure.unplaced);
CREATE INDEX erasure_place IF NOT EXISTS FOR (erasure:Erasure) ON (erasure.agent_key, erasure.place);

// What an earlier version wrote is marked, twenty contacts at a time.
MATCH (contact:Contact) WHERE contact.contact_key > $after
WITH contact ORDER BY contact.contact_key LIMIT 20
CALL (contact) {
  MATCH (contact)<-[:`FOR`|ERASES]-(change)
  WHERE change.place IS NULL AND change.unplaced IS NULL
  SET change.unplaced = true
} IN TRANSACTIONS OF 1 ROW
WITH max(contact.contact_key) AS after, count(contact) AS contacts
WHERE contacts > 0
RETURN after, contacts;
