// What ranks the facts of one contact, live or expired: their vectors and a few numbers, and
// the version that they were seen at; no row where there is none.
// Nothing else of them: a recall among thousands keeps eight, and reads those by their ids.
// The version is read before the facts: a write in between then is seen by the next look at it.
// The last MATCH keeps one planner on the contact's own facts, as in list_neighbourhood.
// mode: read
// params: contact_key, embedding_model
// returns: version, fact_id, importance, confidence, last_confirmed_at, expires_at, embedding_bytes, embedding
MATCH (contact:Contact {contact_key: $contact_key})
WITH contact, contact.version AS version
MATCH (contact)<-[:ABOUT]-(fact:Fact)
WITH version, fact
MATCH (fact)
WHERE fact.state IN ['live', 'expired'] AND fact.embedding_model = $embedding_model
RETURN version, fact.fact_id AS fact_id, fact.importance AS importance,
       coalesce(fact.confidence, 1.0) AS confidence,
       fact.last_confirmed_at AS last_confirmed_at, fact.expires_at AS expires_at,
       fact.embedding_bytes AS embedding_bytes,
       CASE WHEN fact.embedding_bytes IS NULL THEN fact.embedding END AS embedding
