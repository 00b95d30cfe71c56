// A page of some contacts' facts in columns, with all that an export holds of them but the vectors.
// mode: read
// rows: by column
MATCH (contact:Contact)<-[:ABOUT]-(fact:Fact)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_key AS contact_key, fact
MATCH (fact)
WHERE fact.fact_id > $after
RETURN contact_key, fact.fact_id AS node_id, fact.slot_key AS slot_key,
       fact.embedding_model AS embedding_model,
       // include: fact
ORDER BY node_id
LIMIT $limit
