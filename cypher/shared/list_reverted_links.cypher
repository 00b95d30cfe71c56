// The REVERTED links of some of the decisions about a contact, for an export.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[made:`FOR`]-(one:Decision)
      -[link:REVERTED]->(other:Decision)
// embedded: join contact, made, one, link, other
WITH one, link, other
WHERE one.decision_id > $after AND one.decision_id <= $until
RETURN one.decision_id AS from_id, other.decision_id AS to_id, link
ORDER BY from_id, to_id
