// Count the facts that must move to another model, and those that already have its vector.
// mode: read
MATCH (fact:Fact)
WHERE fact.embedding_model = $embedding_model AND fact.state <> 'erased'
RETURN count(fact) AS facts,
       count(CASE WHEN fact.next_embedding_model = $next_model THEN 1 END) AS moved
