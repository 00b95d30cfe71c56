// A fact as it is kept, written and read; what was not written has the default of the record.
fact.fact_id AS fact_id, fact.text AS text, fact.importance AS importance,
fact.trust AS trust, fact.observations AS observations, fact.recorded_at AS recorded_at,
fact.valid_from AS valid_from, fact.valid_to AS valid_to,
fact.last_confirmed_at AS last_confirmed_at, fact.state AS state, fact.is_void AS is_void,
fact.is_contested AS is_contested, fact.subject AS subject, fact.attribute AS attribute,
fact.value AS value, fact.value_key AS value_key, fact.is_single_valued AS is_single_valued,
fact.is_known AS is_known, fact.is_personal AS is_personal, fact.category AS category,
fact.topic AS topic, fact.tags AS tags, fact.confidence AS confidence,
fact.sensitivity AS sensitivity, fact.is_redacted AS is_redacted,
fact.recall_semantics AS recall_semantics, fact.yields_to_live_intent AS yields_to_live_intent,
fact.expires_at AS expires_at, fact.is_confirmed_by_user AS is_confirmed_by_user,
fact.artefact AS artefact, fact.recall_count AS recall_count,
fact.last_recalled_at AS last_recalled_at
