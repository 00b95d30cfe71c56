// What the vector index holds to be nearest to a vector. It looks at the facts of all agents and
// filters nothing, so fewer are left here than were asked for. Its own score is of shortened numbers
// (off by 0.2 on 5.26), so the cosine is computed again; that answers (1 + cosine) / 2.
// The index does not know the vectors that a move to another model has not put in their place yet.
// mode: read
// index: fact_embedding
CALL db.index.vector.queryNodes('fact_embedding', $limit, $embedding) YIELD node AS fact
WHERE fact.state IN ['live', 'expired'] AND fact.embedding_model = $embedding_model
MATCH (fact)-[:ABOUT]->(contact:Contact)<-[:KNOWS]-(:Agent {agent_key: $agent_key})
RETURN fact.fact_id AS fact_id, contact.contact_id AS contact_id,
       2 * vector.similarity.cosine(fact.embedding, $embedding) - 1 AS cosine
ORDER BY cosine DESC, fact_id
