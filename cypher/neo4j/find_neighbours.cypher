// The ten nearest live facts of one contact by raw cosine, with the version they were seen at. A
// fact whose slot the note decides about is always among them, however far away its text is.
// vector.similarity.cosine answers (1 + cosine) / 2; the last step gives the raw cosine back.
// The version is read before the facts: a write in between then fails the version check.
// mode: read
// params: contact_key, embedding_model, embedding, slot_prefix, now
// returns: version, fact_id, text, valid_from, trust, subject, attribute, value, value_key, is_single_valued, is_known, is_personal, category, cosine
MATCH (contact:Contact {contact_key: $contact_key})
WITH contact, contact.version AS version
MATCH (contact)<-[:ABOUT]-(fact:Fact)
WHERE fact.is_live AND fact.embedding_model = $embedding_model
  AND (fact.expires_at IS NULL OR fact.expires_at > $now)
WITH version, fact, vector.similarity.cosine(fact.embedding, $embedding) AS rescaled,
     coalesce(fact.slot_key STARTS WITH $slot_prefix, false) AS is_rival
ORDER BY is_rival DESC, rescaled DESC
LIMIT 10
RETURN version, fact.fact_id AS fact_id, fact.text AS text, fact.valid_from AS valid_from,
       fact.trust AS trust, fact.subject AS subject, fact.attribute AS attribute,
       fact.value AS value, fact.value_key AS value_key,
       fact.is_single_valued AS is_single_valued, fact.is_known AS is_known,
       fact.is_personal AS is_personal, fact.category AS category,
       2 * rescaled - 1 AS cosine
ORDER BY cosine DESC
