// A page of the decisions about some contacts in columns, with all that an export holds of them.
// mode: read
// rows: by column
MATCH (contact:Contact)<-[:`FOR`]-(decision:Decision)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_key AS contact_key, decision
MATCH (decision)
WHERE decision.decision_id > $after
RETURN contact_key, decision.decision_id AS node_id,
       decision.decision_id AS decision_id, decision.action AS action,
       decision.decided_by AS decided_by, decision.reason AS reason, decision.text AS text,
       decision.cosine AS cosine, decision.fact_id AS fact_id,
       decision.arbiter_reasoning AS arbiter_reasoning, decision.door AS door,
       decision.trust AS trust, decision.at AS at, decision.episode_id AS episode_id,
       decision.session_id AS session_id, decision.disposal AS disposal,
       decision.gate_reason AS gate_reason, decision.inference_key AS inference_key,
       decision.lapses_at AS lapses_at, decision.proposed_by AS proposed_by,
       decision.answered_by AS answered_by, decision.settles_id AS settles_id,
       decision.held_id AS held_id, decision.record AS record, decision.correction AS correction,
       decision.corrected_at AS corrected_at
ORDER BY node_id
LIMIT $limit
