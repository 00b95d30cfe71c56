// Facts with a vector of the next model, in no order.
// mode: read
MATCH (fact:Fact)
WHERE fact.next_embedding_model IS NOT NULL
RETURN fact.fact_id AS fact_id
LIMIT $limit
