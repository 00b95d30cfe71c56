// The facts that the vector index finds nearest to a vector. The index searches the facts of all agents
// without a filter, so fewer remain here than were asked for. Its score comes from shortened numbers (off by
// 0.2 on 5.26), so the cosine is computed again; that function returns (1 + cosine) / 2. The index lacks
// vectors that a move to another model has not put in their place yet.
// mode: read
// index: fact_embedding
CALL db.index.vector.queryNodes('fact_embedding', $limit, $embedding) YIELD node AS fact
WHERE fact.state IN ['live', 'expired'] AND fact.embedding_model = $embedding_model
MATCH (fact)-[:ABOUT]->(contact:Contact)<-[:KNOWS]-(:Agent {agent_key: $agent_key})
RETURN fact.fact_id AS fact_id, 2 * vector.similarity.cosine(fact.embedding, $embedding) - 1 AS cosine,
       false AS is_exact
ORDER BY cosine DESC, fact_id
