// Decisions about a contact by their ids that were kept in columns, before they had a record, each
// with the note that it judged. One about anybody else gives no row, as if there were none. The
// contact's key stands in the same MATCH on purpose: without it one engine scans the decisions of
// the whole store.
// A decision may rest on several episodes; the one that it names is the note's own. Older ones name
// none, and have one only.
// mode: read
// params: contact_key, decision_ids
// script for each: wanted_id of decision_ids
// returns: decision_id, action, decided_by, cosine, reason, text, fact_id, superseded_ids, conflicting_ids, history_of_id, is_contested, findings, subject, attribute, value, value_key, is_single_valued, is_known, is_personal, trust, valid_from, episode_id, contact_id, tenant, agent_id, session_id, importance, source_reference, profile_name, cosine_update_min, cosine_add_max, cosine_cut, guard, embedding_model, arbiter, arbiter_reasoning, arbiter_error, arbiter_relation, arbiter_action, arbiter_target, arbiter_confidence, arbiter_cost_usd, arbiter_is_cached, correction, door, idempotency_key, attempts, embed_ms, compare_ms, arbitrate_ms, disposal, gate_reason, gate_findings, score_parts, confidence, category, topic, tags, sensitivity, is_redacted, recall_semantics, yields_to_live_intent, lifetime_days, question, lapses_at, policy_version, domain, inference_key, proposed_by, answered_by, settles_id, held_id, said_at, at
MATCH (decision:Decision {decision_id: $wanted_id})-[:`FOR`]->(contact:Contact {contact_key: $contact_key})
MATCH (decision)-[:JUDGED]->(episode:Episode)
WHERE coalesce(decision.episode_id, episode.episode_id) = episode.episode_id
RETURN decision.decision_id AS decision_id, decision.action AS action,
       decision.decided_by AS decided_by, decision.cosine AS cosine, decision.reason AS reason,
       coalesce(decision.text, episode.text) AS text, decision.fact_id AS fact_id,
       decision.superseded_ids AS superseded_ids, decision.conflicting_ids AS conflicting_ids,
       decision.history_of_id AS history_of_id,
       coalesce(decision.is_contested, false) AS is_contested, decision.findings AS findings,
       decision.subject AS subject, decision.attribute AS attribute, decision.value AS value,
       decision.value_key AS value_key, decision.is_single_valued AS is_single_valued,
       decision.is_known AS is_known, decision.is_personal AS is_personal,
       coalesce(decision.trust, episode.source_kind) AS trust, coalesce(decision.valid_from, episode.said_at) AS valid_from,
       episode.episode_id AS episode_id, contact.contact_id AS contact_id,
       contact.tenant AS tenant, contact.agent_id AS agent_id,
       decision.session_id AS session_id, coalesce(decision.importance, 0.5) AS importance,
       coalesce(decision.source_reference, episode.source_reference) AS source_reference,
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
       decision.disposal AS disposal, decision.gate_reason AS gate_reason,
       decision.gate_findings AS gate_findings, decision.score_parts AS score_parts,
       decision.confidence AS confidence, decision.category AS category, decision.topic AS topic,
       decision.tags AS tags, decision.sensitivity AS sensitivity,
       decision.is_redacted AS is_redacted, decision.recall_semantics AS recall_semantics,
       decision.yields_to_live_intent AS yields_to_live_intent,
       decision.lifetime_days AS lifetime_days, decision.question AS question,
       decision.lapses_at AS lapses_at, decision.policy_version AS policy_version,
       decision.domain AS domain, decision.inference_key AS inference_key,
       decision.proposed_by AS proposed_by, decision.answered_by AS answered_by,
       decision.settles_id AS settles_id, decision.held_id AS held_id,
       coalesce(decision.said_at, episode.said_at) AS said_at, decision.at AS at
ORDER BY at DESC, decision_id
