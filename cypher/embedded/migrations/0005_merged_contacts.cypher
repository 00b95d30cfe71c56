// A contact that was merged into another has the id of that one, and that one the ids of all that it absorbed.
ALTER TABLE Contact ADD IF NOT EXISTS absorbed_into STRING;
ALTER TABLE Contact ADD IF NOT EXISTS absorbed STRING[];
