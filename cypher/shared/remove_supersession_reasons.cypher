// Remove the reasons of supersessions from and to facts: a reason may quote either fact.
// mode: write
MATCH (contact:Contact {contact_key: $contact_key})<-[about:ABOUT]-(fact:Fact)
      -[link:SUPERSEDES]->(other:Fact)
// embedded: join contact, about, fact, link, other
WITH fact, link, other
WHERE link.reason <> '[erased]'
  AND ($is_whole OR fact.fact_id IN $fact_ids OR other.fact_id IN $fact_ids)
WITH fact, link
LIMIT $limit
SET link.reason = '[erased]'
RETURN fact.fact_id AS fact_id
