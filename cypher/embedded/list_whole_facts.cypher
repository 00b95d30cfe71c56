// A page of a contact's facts as they are kept, for an export. Whether vectors are asked for makes no
// difference here: this engine reads them either way.
// mode: read
// params: contact_key, after, limit, with_vectors
// returns: node_id, node
// only when with_vectors is True, False
MATCH (contact:Contact {contact_key: $contact_key})<-[:ABOUT]-(fact:Fact)
WITH fact
MATCH (fact)
WHERE fact.fact_id > $after
RETURN fact.fact_id AS node_id, fact AS node
ORDER BY node_id
LIMIT $limit
