// The facts of the store that are nearest to a vector; exact, because it compares each fact. Nothing if the agent
// has few of the store's contacts: then it takes less time to compare their facts alone (list_nearest), which
// costs fifteen times as much for each fact. This engine keeps no vector index up to date with each write.
// Only columns that are sorted by may follow a fact through the sorting: one more took 1.5 times as long, the fact
// itself three times.
// mode: read
MATCH (agent:Agent {agent_key: $agent_key})-[:KNOWS]->(contact:Contact)
WITH count(contact) AS own
MATCH (contact:Contact)
WITH own, count(contact) AS contacts
WHERE own * 15 >= contacts
RETURN own;

MATCH (fact:Fact)
WHERE fact.state IN ['live', 'expired'] AND fact.embedding_model = $embedding_model
WITH fact.fact_id AS fact_id, array_cosine_similarity(fact.embedding, $embedding) AS cosine
ORDER BY cosine DESC, fact_id LIMIT $limit
RETURN fact_id, cosine, true AS is_exact
