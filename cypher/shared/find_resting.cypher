// Whether a fact rests on an episode: one row where it does.
// mode: read
// params: fact_id, episode_id
// returns: fact_id
MATCH (fact:Fact {fact_id: $fact_id})-[:EVIDENCED_BY]->(episode:Episode {episode_id: $episode_id})
RETURN fact.fact_id AS fact_id
LIMIT 1
