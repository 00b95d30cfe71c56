// Always nothing: this engine keeps no vector index up to date with each write. See list_nearest.
// mode: read
MATCH (agent:Agent {agent_key: $agent_key})-[:KNOWS]->(contact:Contact)<-[:ABOUT]-(fact:Fact)
WHERE fact.embedding_model = $embedding_model AND false
RETURN fact.fact_id AS fact_id, contact.contact_id AS contact_id,
       array_cosine_similarity(fact.embedding, $embedding) AS cosine
ORDER BY cosine DESC, fact_id LIMIT $limit
