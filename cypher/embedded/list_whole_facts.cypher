// A page of some contacts' stored facts, for an export. Only ids are sorted, and then the facts of the page
// are looked up. The columns are named one by one, because a whole node comes with its vector as a list of
// numbers, which takes 0.13 ms a fact; bytes take none.
// mode: read
MATCH (contact:Contact)<-[:ABOUT]-(fact:Fact)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_key AS contact_key, fact
MATCH (fact)
WHERE fact.fact_id > $after
WITH contact_key, fact.fact_id AS node_id
ORDER BY node_id
LIMIT $limit
MATCH (fact:Fact {fact_id: node_id})
WITH contact_key, node_id, {
  // in a map: columns of fact
  slot_key: fact.slot_key, embedding_model: fact.embedding_model,
  embedding_bytes: CASE WHEN $with_vectors THEN fact.embedding_bytes END
} AS node
RETURN contact_key, node_id, node
ORDER BY node_id
