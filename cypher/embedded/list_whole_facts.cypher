// A page of some contacts' facts as they are kept, for an export. Whether vectors are asked for makes no
// difference here: this engine reads them either way.
// mode: read
// only when with_vectors is True, False
MATCH (contact:Contact)<-[:ABOUT]-(fact:Fact)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_key AS contact_key, fact
MATCH (fact)
WHERE fact.fact_id > $after
RETURN contact_key, fact.fact_id AS node_id, fact AS node
ORDER BY node_id
LIMIT $limit
