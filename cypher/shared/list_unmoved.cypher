// Facts, live or ended, without a vector of the store's next model, in no order.
// mode: read
MATCH (fact:Fact)
WHERE fact.embedding_model = $embedding_model AND fact.state <> 'erased'
  AND coalesce(fact.next_embedding_model, '') <> $next_model
RETURN fact.fact_id AS fact_id, fact.text AS text
LIMIT $limit
