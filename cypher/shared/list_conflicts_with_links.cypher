// The CONFLICTS_WITH links of some of a contact's facts, for an export.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[about:ABOUT]-(one:Fact)
      -[link:CONFLICTS_WITH]->(other:Fact)
// embedded: join contact, about, one, link, other
WITH one, link, other
WHERE one.fact_id > $after AND one.fact_id <= $until
RETURN one.fact_id AS from_id, other.fact_id AS to_id, link
ORDER BY from_id, to_id
