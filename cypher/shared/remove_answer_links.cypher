// Remove the links of facts with the records of answers that used them.
// mode: write
MATCH (contact:Contact {contact_key: $contact_key})<-[about:ABOUT]-(fact:Fact)
      <-[used:COMPARED_WITH]-(decision:Decision)
// embedded: join contact, about, fact, used, decision
WITH fact, used, decision
WHERE decision.action = 'CITE' AND ($is_whole OR fact.fact_id IN $fact_ids)
WITH fact, used
LIMIT $limit
DELETE used
RETURN fact.fact_id AS fact_id
