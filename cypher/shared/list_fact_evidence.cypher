// The turns that facts rest on themselves, each with the words in it and the session that it was said
// in. Those of what a fact says again are asked for by that one's id.
// mode: read
// script for each: wanted_id of fact_ids
MATCH (fact:Fact {fact_id: $wanted_id})-[rests:EVIDENCED_BY]->(episode:Episode)
MATCH (episode)-[:`IN`]->(session:Session)
RETURN fact.fact_id AS fact_id, episode.episode_id AS episode_id, episode.role AS role,
       episode.text AS text, episode.said_at AS said_at, episode.source_kind AS source_kind,
       episode.source_reference AS source_reference, rests.span AS span,
       session.session_id AS session_id, session.channel AS channel
