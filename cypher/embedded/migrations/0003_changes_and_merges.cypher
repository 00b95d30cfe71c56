// The tokens of the servers: a document with hashes, for an engine that several hosts share.
ALTER TABLE Store ADD IF NOT EXISTS tokens STRING;

// The place of each decision and each erasure in the order of changes; null until a reader numbers it. The
// last place that was given is the store's. A webhook's state is one record, in JSON.
ALTER TABLE Decision ADD IF NOT EXISTS place INT64;
ALTER TABLE Erasure ADD IF NOT EXISTS place INT64;
ALTER TABLE Store ADD IF NOT EXISTS last_place INT64;
CREATE NODE TABLE IF NOT EXISTS Webhook(
  name STRING PRIMARY KEY, locked_by STRING, leased_by STRING, leased_until TIMESTAMP, state STRING);

// A contact that was merged into another has the id of that one, and that one the ids of all that it absorbed.
ALTER TABLE Contact ADD IF NOT EXISTS absorbed_into STRING;
ALTER TABLE Contact ADD IF NOT EXISTS absorbed STRING[];
