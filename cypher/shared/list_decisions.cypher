// The newest decisions about a contact, with the note that each one judged.
// mode: read
// params: contact_key, limit
// returns: decision_id, action, decided_by, cosine, reason, text, fact_id, superseded_ids, conflicting_ids, history_of_id, is_contested, findings, subject, attribute, value, value_key, is_single_valued, is_known, trust, valid_from, episode_id, contact_id, profile_name, cosine_update_min, cosine_add_max, cosine_cut, guard, embedding_model, arbiter, arbiter_reasoning, arbiter_error, arbiter_relation, arbiter_action, arbiter_target, arbiter_confidence, arbiter_cost_usd, arbiter_is_cached, correction, door, idempotency_key, attempts, embed_ms, compare_ms, arbitrate_ms, said_at, at
MATCH (contact:Contact {contact_key: $contact_key})<-[:`FOR`]-(decision:Decision)
MATCH (decision)-[:JUDGED]->(episode:Episode)
RETURN decision.decision_id AS decision_id, decision.action AS action,
       decision.decided_by AS decided_by, decision.cosine AS cosine, decision.reason AS reason,
       episode.text AS text, decision.fact_id AS fact_id,
       decision.superseded_ids AS superseded_ids, decision.conflicting_ids AS conflicting_ids,
       decision.history_of_id AS history_of_id,
       coalesce(decision.is_contested, false) AS is_contested, decision.findings AS findings,
       decision.subject AS subject, decision.attribute AS attribute, decision.value AS value,
       decision.value_key AS value_key, decision.is_single_valued AS is_single_valued,
       decision.is_known AS is_known,
       episode.source_kind AS trust, coalesce(decision.valid_from, episode.said_at) AS valid_from,
       episode.episode_id AS episode_id, contact.contact_id AS contact_id,
       coalesce(decision.profile_name, 'seed') AS profile_name,
       decision.cosine_update_min AS cosine_update_min, decision.cosine_add_max AS cosine_add_max,
       coalesce(decision.cosine_cut,
                decision.cosine_update_min / 2 + decision.cosine_add_max / 2) AS cosine_cut,
       coalesce(decision.guard, false) AS guard,
       decision.embedding_model AS embedding_model, decision.arbiter AS arbiter,
       decision.arbiter_reasoning AS arbiter_reasoning, decision.arbiter_error AS arbiter_error,
       decision.arbiter_relation AS arbiter_relation, decision.arbiter_action AS arbiter_action,
       decision.arbiter_target AS arbiter_target,
       decision.arbiter_confidence AS arbiter_confidence,
       decision.arbiter_cost_usd AS arbiter_cost_usd,
       coalesce(decision.arbiter_is_cached, false) AS arbiter_is_cached,
       decision.correction AS correction,
       decision.door AS door, decision.idempotency_key AS idempotency_key,
       decision.attempts AS attempts, decision.embed_ms AS embed_ms,
       decision.compare_ms AS compare_ms, decision.arbitrate_ms AS arbitrate_ms,
       episode.said_at AS said_at, decision.at AS at
ORDER BY at DESC, decision_id
LIMIT $limit
