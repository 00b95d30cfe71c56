// Take away why facts stood beside another: a reason may quote either.
// mode: write
UNWIND $fact_ids AS fact_id
MATCH (fact:Fact {fact_id: fact_id})-[link:CONFLICTS_WITH]-(:Fact)
WHERE link.reason <> '[erased]'
SET link.reason = '[erased]'
RETURN DISTINCT fact.fact_id AS fact_id
