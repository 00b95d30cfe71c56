// All facts of one contact, live and ended, the newest first.
// mode: read
// params: contact_key
// returns: fact_id, text, importance, trust, observations, recorded_at, valid_from, valid_to, last_confirmed_at, is_live, is_contested, subject, attribute, value, value_key, is_single_valued, is_known, is_personal, category, topic, tags, confidence, sensitivity, is_redacted, recall_semantics, yields_to_live_intent, expires_at, is_confirmed_by_user
MATCH (contact:Contact {contact_key: $contact_key})<-[:ABOUT]-(fact:Fact)
RETURN fact.fact_id AS fact_id, fact.text AS text, fact.importance AS importance,
       fact.trust AS trust, fact.observations AS observations, fact.recorded_at AS recorded_at,
       fact.valid_from AS valid_from, fact.valid_to AS valid_to,
       fact.last_confirmed_at AS last_confirmed_at, fact.is_live AS is_live,
       coalesce(fact.is_contested, false) AS is_contested, fact.subject AS subject,
       fact.attribute AS attribute, fact.value AS value, fact.value_key AS value_key,
       fact.is_single_valued AS is_single_valued,
       fact.is_known AS is_known, fact.is_personal AS is_personal,
       coalesce(fact.category, 'fact') AS category, fact.topic AS topic, fact.tags AS tags,
       coalesce(fact.confidence, 1.0) AS confidence,
       coalesce(fact.sensitivity, 'none') AS sensitivity,
       coalesce(fact.is_redacted, false) AS is_redacted,
       coalesce(fact.recall_semantics, 'default') AS recall_semantics,
       coalesce(fact.yields_to_live_intent, false) AS yields_to_live_intent,
       fact.expires_at AS expires_at,
       coalesce(fact.is_confirmed_by_user, false) AS is_confirmed_by_user
ORDER BY recorded_at DESC, fact_id
