// The EVIDENCED_BY links of some of a contact's facts, for an export.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:ABOUT]-(one:Fact)
MATCH (one)-[link:EVIDENCED_BY]->(other:Episode)
WITH one, link, other
WHERE one.fact_id > $after AND one.fact_id <= $until
RETURN one.fact_id AS from_id, other.episode_id AS to_id, link
ORDER BY from_id, to_id
