// Decisions about a contact by their ids that were kept in columns, before they had a record, each
// with the note that it judged. One about anybody else gives no row, as if there were none. The
// contact's key stands in the same MATCH on purpose: without it one engine scans the decisions of
// the whole store.
// A decision may rest on several episodes; the one that it names is the note's own. Older ones name
// none, and have one only.
// What no record holds has a table of its own, since migration 7.
// mode: read
// params: contact_key, decision_ids
// script for each: wanted_id of decision_ids
// returns: decision_id, action, decided_by, cosine, reason, text, fact_id, superseded_ids, conflicting_ids, history_of_id, is_contested, findings, subject, attribute, value, value_key, is_single_valued, is_known, is_personal, trust, valid_from, episode_id, contact_id, tenant, agent_id, session_id, importance, source_reference, profile_name, cosine_update_min, cosine_add_max, cosine_cut, guard, embedding_model, arbiter, arbiter_reasoning, arbiter_error, arbiter_relation, arbiter_action, arbiter_target, arbiter_confidence, arbiter_cost_usd, arbiter_is_cached, correction, door, idempotency_key, attempts, embed_ms, compare_ms, arbitrate_ms, disposal, gate_reason, gate_findings, score_parts, confidence, category, topic, tags, sensitivity, is_redacted, recall_semantics, yields_to_live_intent, lifetime_days, question, lapses_at, policy_version, domain, inference_key, proposed_by, answered_by, settles_id, held_id, said_at, at
OPTIONAL MATCH (flat:FlatDecision {decision_id: $wanted_id})
WITH flat
MATCH (decision:Decision {decision_id: $wanted_id})-[:`FOR`]->(contact:Contact {contact_key: $contact_key})
MATCH (decision)-[:JUDGED]->(episode:Episode)
WHERE coalesce(decision.episode_id, episode.episode_id) = episode.episode_id
RETURN decision.decision_id AS decision_id, decision.action AS action,
       decision.decided_by AS decided_by, decision.cosine AS cosine, decision.reason AS reason,
       coalesce(decision.text, episode.text) AS text, decision.fact_id AS fact_id,
       flat.superseded_ids AS superseded_ids, flat.conflicting_ids AS conflicting_ids,
       flat.history_of_id AS history_of_id,
       coalesce(flat.is_contested, false) AS is_contested, flat.findings AS findings,
       flat.subject AS subject, flat.attribute AS attribute, flat.value AS value,
       flat.value_key AS value_key, flat.is_single_valued AS is_single_valued,
       flat.is_known AS is_known, flat.is_personal AS is_personal,
       coalesce(decision.trust, episode.source_kind) AS trust, coalesce(flat.valid_from, episode.said_at) AS valid_from,
       episode.episode_id AS episode_id, contact.contact_id AS contact_id,
       contact.tenant AS tenant, contact.agent_id AS agent_id,
       decision.session_id AS session_id, coalesce(flat.importance, 0.5) AS importance,
       coalesce(flat.source_reference, episode.source_reference) AS source_reference,
       coalesce(flat.profile_name, 'seed') AS profile_name,
       flat.cosine_update_min AS cosine_update_min, flat.cosine_add_max AS cosine_add_max,
       coalesce(flat.cosine_cut,
                flat.cosine_update_min / 2 + flat.cosine_add_max / 2) AS cosine_cut,
       coalesce(flat.guard, false) AS guard,
       flat.embedding_model AS embedding_model, flat.arbiter AS arbiter,
       decision.arbiter_reasoning AS arbiter_reasoning, flat.arbiter_error AS arbiter_error,
       flat.arbiter_relation AS arbiter_relation, flat.arbiter_action AS arbiter_action,
       flat.arbiter_target AS arbiter_target,
       flat.arbiter_confidence AS arbiter_confidence,
       flat.arbiter_cost_usd AS arbiter_cost_usd,
       coalesce(flat.arbiter_is_cached, false) AS arbiter_is_cached,
       decision.correction AS correction,
       decision.door AS door, flat.idempotency_key AS idempotency_key,
       flat.attempts AS attempts, flat.embed_ms AS embed_ms,
       flat.compare_ms AS compare_ms, flat.arbitrate_ms AS arbitrate_ms,
       decision.disposal AS disposal, decision.gate_reason AS gate_reason,
       flat.gate_findings AS gate_findings, flat.score_parts AS score_parts,
       flat.confidence AS confidence, flat.category AS category, flat.topic AS topic,
       flat.tags AS tags, flat.sensitivity AS sensitivity,
       flat.is_redacted AS is_redacted, flat.recall_semantics AS recall_semantics,
       flat.yields_to_live_intent AS yields_to_live_intent,
       flat.lifetime_days AS lifetime_days, flat.question AS question,
       decision.lapses_at AS lapses_at, flat.policy_version AS policy_version,
       flat.domain AS domain, decision.inference_key AS inference_key,
       decision.proposed_by AS proposed_by, decision.answered_by AS answered_by,
       decision.settles_id AS settles_id, decision.held_id AS held_id,
       coalesce(flat.said_at, episode.said_at) AS said_at, decision.at AS at
ORDER BY at DESC, decision_id
