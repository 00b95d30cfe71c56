// The facts that rest on an episode themselves; what says one of them again rests on it too.
// mode: read
MATCH (episode:Episode {episode_id: $episode_id})<-[:EVIDENCED_BY]-(fact:Fact)
RETURN fact.fact_id AS fact_id
