// The turns that facts rest on directly, each with the cited words and its session. For the turns of a fact
// that one of them restates, ask with that fact's id.
// mode: read
// script for each: wanted_id of fact_ids
MATCH (fact:Fact {fact_id: $wanted_id})-[rests:EVIDENCED_BY]->(episode:Episode)
MATCH (episode)-[:`IN`]->(session:Session)
RETURN fact.fact_id AS fact_id, episode.episode_id AS episode_id, episode.role AS role,
       episode.text AS text, episode.said_at AS said_at, episode.source_kind AS source_kind,
       episode.source_reference AS source_reference, rests.span AS span,
       session.session_id AS session_id, session.channel AS channel
