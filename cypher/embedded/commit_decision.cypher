// Write one decision and all that follows from it; no row means that another writer came first.
// This dialect has no subqueries, so it takes a script: one transaction, rolled back at the first
// statement that should return a row and does not.
// mode: write
// params: tenant, agent_id, agent_key, contact_id, contact_key, contact_name, version, session_id, session_key, episode_id, text, said_at, source_kind, source_reference, decision_id, action, decided_by, cosine, reason, cosine_update_min, cosine_add_max, embedding_model, arbiter, arbiter_reasoning, arbiter_error, door, idempotency_key, attempts, embed_ms, compare_ms, arbitrate_ms, at, fact_id, superseded_id, is_restatement, importance, embedding, neighbour_ids, neighbour_cosines
// returns: decision_id
// only when version is 0
MERGE (contact:Contact {contact_key: $contact_key})
  ON CREATE SET contact.tenant = $tenant, contact.agent_id = $agent_id,
                contact.contact_id = $contact_id, contact.name = $contact_id,
                contact.version = 0;

MATCH (contact:Contact {contact_key: $contact_key})
WHERE contact.version = $version
SET contact.version = $version + 1,
    contact.name = coalesce($contact_name, contact.name),
    contact.last_decision_at = $at
RETURN contact.version AS version;

// The agent is introduced with the contact's first decision.
// only when version is 0
MATCH (contact:Contact {contact_key: $contact_key})
MERGE (agent:Agent {agent_key: $agent_key})
  ON CREATE SET agent.tenant = $tenant, agent.agent_id = $agent_id
MERGE (agent)-[:KNOWS]->(contact);

// The evidence, and the decision about it.
MERGE (session:Session {session_key: $session_key})
  ON CREATE SET session.session_id = $session_id, session.channel = $door,
                session.started_at = $said_at, session.ended_at = $said_at
SET session.started_at = CASE WHEN $said_at < session.started_at
                              THEN $said_at ELSE session.started_at END,
    session.ended_at = CASE WHEN $said_at > session.ended_at
                            THEN $said_at ELSE session.ended_at END;

MATCH (session:Session {session_key: $session_key}), (contact:Contact {contact_key: $contact_key})
MERGE (session)-[:`WITH`]->(contact);

MATCH (session:Session {session_key: $session_key}), (contact:Contact {contact_key: $contact_key})
CREATE (episode:Episode {
  episode_id: $episode_id, text: $text, said_at: $said_at, source_kind: $source_kind,
  source_reference: $source_reference
})-[:`IN`]->(session)
CREATE (decision:Decision {
  decision_id: $decision_id, action: $action, decided_by: $decided_by, cosine: $cosine,
  reason: $reason, fact_id: $fact_id, superseded_id: $superseded_id,
  cosine_update_min: $cosine_update_min, cosine_add_max: $cosine_add_max,
  embedding_model: $embedding_model, arbiter: $arbiter,
  arbiter_reasoning: $arbiter_reasoning, arbiter_error: $arbiter_error, door: $door,
  idempotency_key: $idempotency_key, attempts: $attempts, embed_ms: $embed_ms,
  compare_ms: $compare_ms, arbitrate_ms: $arbitrate_ms, at: $at
})-[:`FOR`]->(contact)
CREATE (decision)-[:JUDGED]->(episode);

// The new fact.
// only when action is ADD, UPDATE
MATCH (contact:Contact {contact_key: $contact_key}), (episode:Episode {episode_id: $episode_id}),
      (decision:Decision {decision_id: $decision_id})
CREATE (fact:Fact {
  fact_id: $fact_id, text: $text, importance: $importance, trust: $source_kind,
  observations: 1, recorded_at: $at, valid_from: $said_at, last_confirmed_at: $said_at,
  is_live: true, embedding_model: $embedding_model, embedding: $embedding
})-[:ABOUT]->(contact)
CREATE (decision)-[:WROTE]->(fact)
CREATE (fact)-[:EVIDENCED_BY]->(episode);

// The old fact ends; a restatement takes its observations and evidence along.
// only when action is UPDATE
MATCH (new:Fact {fact_id: $fact_id}), (old:Fact {fact_id: $superseded_id})
SET old.is_live = false,
    old.valid_to = CASE WHEN $said_at > old.valid_from THEN $said_at ELSE old.valid_from END,
    new.observations = CASE WHEN $is_restatement THEN old.observations + 1 ELSE 1 END,
    new.last_confirmed_at = CASE WHEN $is_restatement AND $said_at < old.last_confirmed_at
                                 THEN old.last_confirmed_at ELSE $said_at END
CREATE (new)-[:SUPERSEDES {
  cosine: $cosine, decided_by: $decided_by, reason: $reason, at: $at
}]->(old);

// only when is_restatement is True
MATCH (new:Fact {fact_id: $fact_id}), (old:Fact {fact_id: $superseded_id})
MATCH (old)-[:EVIDENCED_BY]->(earlier:Episode)
CREATE (new)-[:EVIDENCED_BY]->(earlier);

// One more observation of the fact that says it already.
// only when action is SKIP
MATCH (fact:Fact {fact_id: $fact_id}), (episode:Episode {episode_id: $episode_id})
SET fact.observations = fact.observations + 1,
    fact.last_confirmed_at = CASE WHEN $said_at > fact.last_confirmed_at
                                  THEN $said_at ELSE fact.last_confirmed_at END
CREATE (fact)-[:EVIDENCED_BY]->(episode);

// What it was compared with, nearest first. Lists count from 1 here, and an empty one has no type
// until it is given one (without the casts the engine fails on it).
WITH CAST($neighbour_ids AS STRING[]) AS ids, CAST($neighbour_cosines AS DOUBLE[]) AS cosines
UNWIND range(1, size(ids)) AS rank
MATCH (decision:Decision {decision_id: $decision_id}), (neighbour:Fact {fact_id: ids[rank]})
CREATE (decision)-[:COMPARED_WITH {cosine: cosines[rank], rank: rank}]->(neighbour);

MATCH (decision:Decision {decision_id: $decision_id})
RETURN decision.decision_id AS decision_id
