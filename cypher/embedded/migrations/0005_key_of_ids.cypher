// The key that ids are made of; `claim_store` draws it once.
ALTER TABLE Store ADD IF NOT EXISTS id_key STRING;
