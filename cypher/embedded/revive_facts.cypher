// Make facts live again that an erased fact had replaced and that have evidence of their own.
// mode: write
UNWIND $fact_ids AS fact_id
MATCH (fact:Fact {fact_id: fact_id})
SET fact.state = 'live', fact.valid_to = NULL
RETURN fact.fact_id AS fact_id
