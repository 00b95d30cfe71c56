// Slots, conflicts, what the guard found, and the arbiter's whole answer. Columns of older rows are
// null; the queries say what that means.
ALTER TABLE Fact ADD IF NOT EXISTS subject STRING;
ALTER TABLE Fact ADD IF NOT EXISTS attribute STRING;
ALTER TABLE Fact ADD IF NOT EXISTS value STRING;
ALTER TABLE Fact ADD IF NOT EXISTS value_key STRING;
ALTER TABLE Fact ADD IF NOT EXISTS is_single_valued BOOLEAN;
ALTER TABLE Fact ADD IF NOT EXISTS is_known BOOLEAN;
ALTER TABLE Fact ADD IF NOT EXISTS slot_key STRING;
ALTER TABLE Fact ADD IF NOT EXISTS is_contested BOOLEAN;
ALTER TABLE SUPERSEDES ADD IF NOT EXISTS is_restatement BOOLEAN;
ALTER TABLE Decision ADD IF NOT EXISTS superseded_ids STRING[];
ALTER TABLE Decision ADD IF NOT EXISTS conflicting_ids STRING[];
ALTER TABLE Decision ADD IF NOT EXISTS history_of_id STRING;
ALTER TABLE Decision ADD IF NOT EXISTS is_contested BOOLEAN;
ALTER TABLE Decision ADD IF NOT EXISTS findings STRING[];
ALTER TABLE Decision ADD IF NOT EXISTS subject STRING;
ALTER TABLE Decision ADD IF NOT EXISTS attribute STRING;
ALTER TABLE Decision ADD IF NOT EXISTS value STRING;
ALTER TABLE Decision ADD IF NOT EXISTS value_key STRING;
ALTER TABLE Decision ADD IF NOT EXISTS is_single_valued BOOLEAN;
ALTER TABLE Decision ADD IF NOT EXISTS is_known BOOLEAN;
ALTER TABLE Decision ADD IF NOT EXISTS trust STRING;
ALTER TABLE Decision ADD IF NOT EXISTS valid_from TIMESTAMP;
ALTER TABLE Decision ADD IF NOT EXISTS profile_name STRING;
ALTER TABLE Decision ADD IF NOT EXISTS cosine_cut DOUBLE;
ALTER TABLE Decision ADD IF NOT EXISTS guard BOOLEAN;
ALTER TABLE Decision ADD IF NOT EXISTS arbiter_relation STRING;
ALTER TABLE Decision ADD IF NOT EXISTS arbiter_action STRING;
ALTER TABLE Decision ADD IF NOT EXISTS arbiter_target INT64;
ALTER TABLE Decision ADD IF NOT EXISTS arbiter_confidence DOUBLE;
ALTER TABLE Decision ADD IF NOT EXISTS arbiter_cost_usd DOUBLE;
ALTER TABLE Decision ADD IF NOT EXISTS arbiter_is_cached BOOLEAN;
ALTER TABLE Decision ADD IF NOT EXISTS correction STRING;
ALTER TABLE Decision ADD IF NOT EXISTS corrected_at TIMESTAMP;
CREATE REL TABLE IF NOT EXISTS CONFLICTS_WITH(
  FROM Fact TO Fact, decided_by STRING, reason STRING, at TIMESTAMP);
MATCH (decision:Decision) WHERE decision.superseded_id IS NOT NULL
SET decision.superseded_ids = [decision.superseded_id];
