// The WROTE links of some of a contact's decisions, for an export.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`FOR`]-(one:Decision)
MATCH (one)-[link:WROTE]->(other:Fact)
WITH one, link, other
WHERE one.decision_id > $after AND one.decision_id <= $until
RETURN one.decision_id AS from_id, other.fact_id AS to_id, link
ORDER BY from_id, to_id
