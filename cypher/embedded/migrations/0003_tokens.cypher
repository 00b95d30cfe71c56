// The tokens of the servers: a document with hashes, for an engine that several hosts share.
ALTER TABLE Store ADD IF NOT EXISTS tokens STRING;
