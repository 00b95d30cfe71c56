// What was written as live of some contacts' facts, each with its slot, whether it still is live, and its vector of
// a model, if it has one.
// Soon after the store moved to another model, a vector may still stand under the name of the next
// one.
// mode: read
// rows: by column
MATCH (contact:Contact)<-[:ABOUT]-(fact:Fact)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_key AS contact_key, fact
MATCH (fact)
WHERE fact.state IN ['live', 'expired']
RETURN contact_key, fact.fact_id AS fact_id, fact.subject AS subject,
       fact.attribute AS attribute, fact.value_key AS value_key,
       fact.is_single_valued AS is_single_valued, coalesce(fact.expires_at > $now, true) AS is_live,
       CASE WHEN fact.embedding_model = $embedding_model THEN fact.embedding_bytes
            WHEN fact.next_embedding_model = $embedding_model THEN fact.next_embedding_bytes END
         AS embedding_bytes
