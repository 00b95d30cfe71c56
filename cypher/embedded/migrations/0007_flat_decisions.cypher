// Decisions that were kept in columns, before they had a record, move to a table of their own: a new
// row pays for every column of its table, also for those that nothing writes any more, and of the
// 74 columns fifty were such. `find_flat_decisions` reads them there. Made again, after the store's
// version was lost, it finds them moved, and columns that the steps before it add again.
CREATE NODE TABLE IF NOT EXISTS FlatDecision(
  decision_id STRING PRIMARY KEY, cosine_update_min DOUBLE, cosine_add_max DOUBLE,
  embedding_model STRING, arbiter STRING, arbiter_error STRING, idempotency_key STRING,
  attempts INT64, embed_ms DOUBLE, compare_ms DOUBLE, arbitrate_ms DOUBLE,
  superseded_ids STRING[], conflicting_ids STRING[], history_of_id STRING, is_contested BOOLEAN,
  findings STRING[], subject STRING, attribute STRING, value STRING, value_key STRING,
  is_single_valued BOOLEAN, is_known BOOLEAN, valid_from TIMESTAMP, profile_name STRING,
  cosine_cut DOUBLE, guard BOOLEAN, arbiter_relation STRING, arbiter_action STRING,
  arbiter_target INT64, arbiter_confidence DOUBLE, arbiter_cost_usd DOUBLE,
  arbiter_is_cached BOOLEAN, said_at TIMESTAMP, source_reference STRING, importance DOUBLE,
  gate_findings STRING[], score_parts STRING[], confidence DOUBLE, category STRING, topic STRING,
  tags STRING[], sensitivity STRING, is_redacted BOOLEAN, recall_semantics STRING,
  yields_to_live_intent BOOLEAN, lifetime_days INT64, question STRING, policy_version STRING,
  domain STRING, is_personal BOOLEAN);
ALTER TABLE Decision ADD IF NOT EXISTS cosine_update_min DOUBLE;
ALTER TABLE Decision ADD IF NOT EXISTS cosine_add_max DOUBLE;
ALTER TABLE Decision ADD IF NOT EXISTS embedding_model STRING;
ALTER TABLE Decision ADD IF NOT EXISTS arbiter STRING;
ALTER TABLE Decision ADD IF NOT EXISTS arbiter_error STRING;
ALTER TABLE Decision ADD IF NOT EXISTS idempotency_key STRING;
ALTER TABLE Decision ADD IF NOT EXISTS attempts INT64;
ALTER TABLE Decision ADD IF NOT EXISTS embed_ms DOUBLE;
ALTER TABLE Decision ADD IF NOT EXISTS compare_ms DOUBLE;
ALTER TABLE Decision ADD IF NOT EXISTS arbitrate_ms DOUBLE;
MATCH (decision:Decision) WHERE decision.record IS NULL
MERGE (flat:FlatDecision {decision_id: decision.decision_id})
  ON CREATE SET
    flat.cosine_update_min = decision.cosine_update_min,
    flat.cosine_add_max = decision.cosine_add_max,
    flat.embedding_model = decision.embedding_model, flat.arbiter = decision.arbiter,
    flat.arbiter_error = decision.arbiter_error, flat.idempotency_key = decision.idempotency_key,
    flat.attempts = decision.attempts, flat.embed_ms = decision.embed_ms,
    flat.compare_ms = decision.compare_ms, flat.arbitrate_ms = decision.arbitrate_ms,
    flat.superseded_ids = decision.superseded_ids,
    flat.conflicting_ids = decision.conflicting_ids, flat.history_of_id = decision.history_of_id,
    flat.is_contested = decision.is_contested, flat.findings = decision.findings,
    flat.subject = decision.subject, flat.attribute = decision.attribute,
    flat.value = decision.value, flat.value_key = decision.value_key,
    flat.is_single_valued = decision.is_single_valued, flat.is_known = decision.is_known,
    flat.valid_from = decision.valid_from, flat.profile_name = decision.profile_name,
    flat.cosine_cut = decision.cosine_cut, flat.guard = decision.guard,
    flat.arbiter_relation = decision.arbiter_relation,
    flat.arbiter_action = decision.arbiter_action, flat.arbiter_target = decision.arbiter_target,
    flat.arbiter_confidence = decision.arbiter_confidence,
    flat.arbiter_cost_usd = decision.arbiter_cost_usd,
    flat.arbiter_is_cached = decision.arbiter_is_cached, flat.said_at = decision.said_at,
    flat.source_reference = decision.source_reference, flat.importance = decision.importance,
    flat.gate_findings = decision.gate_findings, flat.score_parts = decision.score_parts,
    flat.confidence = decision.confidence, flat.category = decision.category,
    flat.topic = decision.topic, flat.tags = decision.tags,
    flat.sensitivity = decision.sensitivity, flat.is_redacted = decision.is_redacted,
    flat.recall_semantics = decision.recall_semantics,
    flat.yields_to_live_intent = decision.yields_to_live_intent,
    flat.lifetime_days = decision.lifetime_days, flat.question = decision.question,
    flat.policy_version = decision.policy_version, flat.domain = decision.domain,
    flat.is_personal = decision.is_personal;
ALTER TABLE Decision DROP superseded_id;
ALTER TABLE Decision DROP cosine_update_min;
ALTER TABLE Decision DROP cosine_add_max;
ALTER TABLE Decision DROP embedding_model;
ALTER TABLE Decision DROP arbiter;
ALTER TABLE Decision DROP arbiter_error;
ALTER TABLE Decision DROP idempotency_key;
ALTER TABLE Decision DROP attempts;
ALTER TABLE Decision DROP embed_ms;
ALTER TABLE Decision DROP compare_ms;
ALTER TABLE Decision DROP arbitrate_ms;
ALTER TABLE Decision DROP superseded_ids;
ALTER TABLE Decision DROP conflicting_ids;
ALTER TABLE Decision DROP history_of_id;
ALTER TABLE Decision DROP is_contested;
ALTER TABLE Decision DROP findings;
ALTER TABLE Decision DROP subject;
ALTER TABLE Decision DROP attribute;
ALTER TABLE Decision DROP value;
ALTER TABLE Decision DROP value_key;
ALTER TABLE Decision DROP is_single_valued;
ALTER TABLE Decision DROP is_known;
ALTER TABLE Decision DROP valid_from;
ALTER TABLE Decision DROP profile_name;
ALTER TABLE Decision DROP cosine_cut;
ALTER TABLE Decision DROP guard;
ALTER TABLE Decision DROP arbiter_relation;
ALTER TABLE Decision DROP arbiter_action;
ALTER TABLE Decision DROP arbiter_target;
ALTER TABLE Decision DROP arbiter_confidence;
ALTER TABLE Decision DROP arbiter_cost_usd;
ALTER TABLE Decision DROP arbiter_is_cached;
ALTER TABLE Decision DROP said_at;
ALTER TABLE Decision DROP source_reference;
ALTER TABLE Decision DROP importance;
ALTER TABLE Decision DROP gate_findings;
ALTER TABLE Decision DROP score_parts;
ALTER TABLE Decision DROP confidence;
ALTER TABLE Decision DROP category;
ALTER TABLE Decision DROP topic;
ALTER TABLE Decision DROP tags;
ALTER TABLE Decision DROP sensitivity;
ALTER TABLE Decision DROP is_redacted;
ALTER TABLE Decision DROP recall_semantics;
ALTER TABLE Decision DROP yields_to_live_intent;
ALTER TABLE Decision DROP lifetime_days;
ALTER TABLE Decision DROP question;
ALTER TABLE Decision DROP policy_version;
ALTER TABLE Decision DROP domain;
ALTER TABLE Decision DROP is_personal;
