// The facts that rest on an episode directly; a restatement of one rests on it too, but is not listed.
// mode: read
MATCH (episode:Episode {episode_id: $episode_id})<-[:EVIDENCED_BY]-(fact:Fact)
RETURN fact.fact_id AS fact_id
