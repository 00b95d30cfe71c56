// The newest decisions about a contact, with the note that each one judged.
// mode: read
// params: contact_key, limit
// returns: decision_id, action, decided_by, cosine, reason, text, fact_id, superseded_id, episode_id, contact_id, cosine_update_min, cosine_add_max, embedding_model, arbiter, arbiter_reasoning, arbiter_error, door, idempotency_key, attempts, embed_ms, compare_ms, arbitrate_ms, said_at, at
MATCH (contact:Contact {contact_key: $contact_key})<-[:`FOR`]-(decision:Decision)
MATCH (decision)-[:JUDGED]->(episode:Episode)
RETURN decision.decision_id AS decision_id, decision.action AS action,
       decision.decided_by AS decided_by, decision.cosine AS cosine, decision.reason AS reason,
       episode.text AS text, decision.fact_id AS fact_id, decision.superseded_id AS superseded_id,
       episode.episode_id AS episode_id, contact.contact_id AS contact_id,
       decision.cosine_update_min AS cosine_update_min, decision.cosine_add_max AS cosine_add_max,
       decision.embedding_model AS embedding_model, decision.arbiter AS arbiter,
       decision.arbiter_reasoning AS arbiter_reasoning, decision.arbiter_error AS arbiter_error,
       decision.door AS door, decision.idempotency_key AS idempotency_key,
       decision.attempts AS attempts, decision.embed_ms AS embed_ms,
       decision.compare_ms AS compare_ms, decision.arbitrate_ms AS arbitrate_ms,
       episode.said_at AS said_at, decision.at AS at
ORDER BY at DESC, decision_id
LIMIT $limit
