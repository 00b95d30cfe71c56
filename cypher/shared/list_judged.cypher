// The decisions made on some episodes, and the fact that each is about.
// mode: read
// script for each: wanted_id of episode_ids
MATCH (episode:Episode {episode_id: $wanted_id})<-[:JUDGED]-(decision:Decision)
RETURN episode.episode_id AS episode_id, decision.decision_id AS decision_id,
       decision.fact_id AS fact_id, decision.action AS action, decision.door AS door,
       decision.proposed_by AS proposed_by, decision.answered_by AS answered_by, decision.at AS at
