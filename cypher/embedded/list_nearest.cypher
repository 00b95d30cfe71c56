// The facts of all contacts of an agent that are nearest to a vector, exactly, by looking at each.
// mode: read
// params: agent_key, embedding, embedding_model, limit
// returns: fact_id, contact_id, cosine
MATCH (agent:Agent {agent_key: $agent_key})-[:KNOWS]->(contact:Contact)<-[:ABOUT]-(fact:Fact)
WITH contact, fact
MATCH (fact)
WHERE fact.state IN ['live', 'expired'] AND fact.embedding_model = $embedding_model
RETURN fact.fact_id AS fact_id, contact.contact_id AS contact_id,
       array_cosine_similarity(fact.embedding, $embedding) AS cosine
ORDER BY cosine DESC, fact_id LIMIT $limit
