// The answers that used some facts, one row for each fact that an answer used. The time that an answer is about
// is that of its own episode.
// mode: read
// script for each: wanted_id of fact_ids
MATCH (fact:Fact {fact_id: $wanted_id})<-[used:COMPARED_WITH]-(decision:Decision)
      -[judged:JUDGED]->(episode:Episode)
// embedded: join fact, used, decision, judged, episode
WITH fact, decision, episode
WHERE decision.action = 'CITE' AND fact.state <> 'erased'
RETURN decision.text AS reference, decision.at AS at, episode.said_at AS holds_at,
       fact.fact_id AS fact_id, fact.text AS text, decision.decision_id AS decision_id
