// What tells whether a host has the key that the hashes in the store are made with; whoever first
// needs that key writes it.
ALTER TABLE Store ADD IF NOT EXISTS hash_key_check STRING;
