// The REVERTED links of some of the decisions about a contact, for an export. Both ends start from
// the contact: there are few such links, and one engine would read a whole table for the far end.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`FOR`]-(one:Decision),
      (contact)<-[:`FOR`]-(other:Decision)
MATCH (one)-[link:REVERTED]->(other)
WITH one, link, other
WHERE one.decision_id > $after AND one.decision_id <= $until
RETURN one.decision_id AS from_id, other.decision_id AS to_id, link
ORDER BY from_id, to_id
