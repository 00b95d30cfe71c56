// Write one decision and all that follows from it; no row means that another writer came first.
// The contact's lock is taken by writing to it, and only then is its version compared: without the
// first SET two writers both read the old version. Everything hangs on that one row; of a writer
// that lost nothing stays but its id in locked_by.
// mode: write
// params: tenant, agent_id, agent_key, contact_id, contact_key, contact_name, version, session_id, session_key, episode_id, text, said_at, valid_from, source_kind, source_reference, subject, attribute, value, value_key, is_single_valued, is_known, slot_key, decision_id, action, decided_by, cosine, reason, profile_name, cosine_update_min, cosine_add_max, cosine_cut, guard, findings, embedding_model, arbiter, arbiter_reasoning, arbiter_error, arbiter_relation, arbiter_action, arbiter_target, arbiter_confidence, arbiter_cost_usd, arbiter_is_cached, door, idempotency_key, attempts, embed_ms, compare_ms, arbitrate_ms, at, fact_id, superseded_ids, conflicting_ids, history_of_id, history_to, restated_id, is_restatement, is_contested, importance, embedding, neighbour_ids, neighbour_cosines
// returns: decision_id
MERGE (contact:Contact {contact_key: $contact_key})
  ON CREATE SET contact.tenant = $tenant, contact.agent_id = $agent_id,
                contact.contact_id = $contact_id, contact.name = $contact_id,
                contact.version = 0
SET contact.locked_by = $decision_id
WITH contact WHERE contact.version = $version
SET contact.version = $version + 1,
    contact.name = coalesce($contact_name, contact.name),
    contact.last_decision_at = $at
// The agent is introduced with the contact's first decision.
WITH contact
CALL (contact) {
  WITH contact WHERE $version = 0
  MERGE (agent:Agent {agent_key: $agent_key})
    ON CREATE SET agent.tenant = $tenant, agent.agent_id = $agent_id
  MERGE (agent)-[:KNOWS]->(contact)
}
// The evidence, and the decision about it.
MERGE (session:Session {session_key: $session_key})
  ON CREATE SET session.session_id = $session_id, session.channel = $door,
                session.started_at = $said_at, session.ended_at = $said_at
SET session.started_at = CASE WHEN $said_at < session.started_at
                              THEN $said_at ELSE session.started_at END,
    session.ended_at = CASE WHEN $said_at > session.ended_at
                            THEN $said_at ELSE session.ended_at END
MERGE (session)-[:`WITH`]->(contact)
CREATE (episode:Episode {
  episode_id: $episode_id, text: $text, said_at: $said_at, source_kind: $source_kind,
  source_reference: $source_reference
})-[:`IN`]->(session)
CREATE (decision:Decision {
  decision_id: $decision_id, action: $action, decided_by: $decided_by, cosine: $cosine,
  reason: $reason, fact_id: $fact_id, superseded_ids: $superseded_ids,
  conflicting_ids: $conflicting_ids, history_of_id: $history_of_id, is_contested: $is_contested,
  findings: $findings, subject: $subject, attribute: $attribute, value: $value,
  value_key: $value_key, is_single_valued: $is_single_valued, is_known: $is_known, trust: $source_kind,
  valid_from: $valid_from, profile_name: $profile_name, cosine_update_min: $cosine_update_min,
  cosine_add_max: $cosine_add_max, cosine_cut: $cosine_cut, guard: $guard,
  embedding_model: $embedding_model, arbiter: $arbiter, arbiter_reasoning: $arbiter_reasoning,
  arbiter_error: $arbiter_error, arbiter_relation: $arbiter_relation,
  arbiter_action: $arbiter_action, arbiter_target: $arbiter_target,
  arbiter_confidence: $arbiter_confidence, arbiter_cost_usd: $arbiter_cost_usd,
  arbiter_is_cached: $arbiter_is_cached, door: $door, idempotency_key: $idempotency_key,
  attempts: $attempts, embed_ms: $embed_ms, compare_ms: $compare_ms, arbitrate_ms: $arbitrate_ms,
  at: $at
})-[:`FOR`]->(contact)
CREATE (decision)-[:JUDGED]->(episode)
// ADD and UPDATE: the new fact. The procedure keeps the vector in half the space of a SET.
WITH contact, decision, episode
CALL (contact, decision, episode) {
  WITH * WHERE $action <> 'SKIP'
  CREATE (fact:Fact {
    fact_id: $fact_id, text: $text, subject: $subject, attribute: $attribute, value: $value,
    value_key: $value_key, is_single_valued: $is_single_valued, is_known: $is_known,
    slot_key: $slot_key, importance: $importance, trust: $source_kind, observations: 1, recorded_at: $at, valid_from: $valid_from,
    valid_to: $history_to, last_confirmed_at: $said_at, is_live: $history_of_id IS NULL,
    is_contested: $is_contested, embedding_model: $embedding_model
  })-[:ABOUT]->(contact)
  CREATE (decision)-[:WROTE]->(fact)
  CREATE (fact)-[:EVIDENCED_BY]->(episode)
  WITH fact WHERE $embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(fact, 'embedding', $embedding)
}
// UPDATE: the old facts end. Their open conflicts stay open. A restatement takes observations and
// evidence of the one it repeats along, and its slot where the note has none.
CALL () {
  WITH * WHERE $action = 'UPDATE'
  MATCH (new:Fact {fact_id: $fact_id})
  UNWIND $superseded_ids AS superseded_id
  MATCH (old:Fact {fact_id: superseded_id})
  SET old.is_live = false,
      old.valid_to = CASE WHEN $valid_from > old.valid_from
                          THEN $valid_from ELSE old.valid_from END
  CREATE (new)-[:SUPERSEDES {
    cosine: $cosine, decided_by: $decided_by, reason: $reason, at: $at,
    is_restatement: coalesce(old.fact_id = $restated_id, false)
  }]->(old)
  WITH new, old
  CALL (new, old) {
    MATCH (old)-[conflict:CONFLICTS_WITH]-(other:Fact)
    WHERE other.is_live AND NOT other.fact_id IN $superseded_ids
      AND NOT other.fact_id IN coalesce($conflicting_ids, [])
    MERGE (new)-[open:CONFLICTS_WITH]->(other)
      ON CREATE SET open.decided_by = conflict.decided_by, open.reason = conflict.reason,
                    open.at = conflict.at
  }
  WITH new, old WHERE old.fact_id = $restated_id
  SET new.observations = old.observations + 1,
      new.last_confirmed_at = CASE WHEN $said_at < old.last_confirmed_at
                                   THEN old.last_confirmed_at ELSE $said_at END,
      new.subject = CASE WHEN $subject IS NULL THEN old.subject ELSE $subject END,
      new.attribute = CASE WHEN $subject IS NULL THEN old.attribute ELSE $attribute END,
      new.value = CASE WHEN $subject IS NULL THEN old.value ELSE $value END,
      new.value_key = CASE WHEN $subject IS NULL THEN old.value_key ELSE $value_key END,
      new.slot_key = CASE WHEN $subject IS NULL THEN old.slot_key ELSE $slot_key END,
      new.is_single_valued = CASE WHEN $subject IS NULL THEN old.is_single_valued
                                  ELSE $is_single_valued END,
      new.is_known = CASE WHEN $subject IS NULL THEN old.is_known ELSE $is_known END
  WITH new, old
  MATCH (old)-[:EVIDENCED_BY]->(earlier:Episode)
  CREATE (new)-[:EVIDENCED_BY]->(earlier)
}
// An older note: it lies beneath the newer fact, which takes a restatement's evidence.
CALL (episode) {
  WITH episode WHERE $history_of_id IS NOT NULL
  MATCH (new:Fact {fact_id: $fact_id})
  MATCH (above:Fact {fact_id: $history_of_id})
  CREATE (above)-[:SUPERSEDES {
    cosine: $cosine, decided_by: $decided_by, reason: $reason, at: $at,
    is_restatement: $is_restatement
  }]->(new)
  WITH above, episode WHERE $is_restatement
  SET above.observations = above.observations + 1
  CREATE (above)-[:EVIDENCED_BY]->(episode)
}
// What the note may contradict stays live beside it.
CALL () {
  UNWIND $conflicting_ids AS conflicting_id
  MATCH (new:Fact {fact_id: $fact_id})
  MATCH (other:Fact {fact_id: conflicting_id})
  CREATE (new)-[:CONFLICTS_WITH {decided_by: $decided_by, reason: $reason, at: $at}]->(other)
}
// SKIP: one more observation of the fact that says it already.
CALL (episode) {
  WITH episode WHERE $action = 'SKIP'
  MATCH (fact:Fact {fact_id: $fact_id})
  SET fact.observations = fact.observations + 1,
      fact.last_confirmed_at = CASE WHEN $said_at > fact.last_confirmed_at
                                    THEN $said_at ELSE fact.last_confirmed_at END
  CREATE (fact)-[:EVIDENCED_BY]->(episode)
}
// What it was compared with, nearest first.
CALL (decision) {
  UNWIND range(1, size($neighbour_ids)) AS rank
  MATCH (neighbour:Fact {fact_id: $neighbour_ids[rank - 1]})
  CREATE (decision)-[:COMPARED_WITH {cosine: $neighbour_cosines[rank - 1], rank: rank}]->(neighbour)
}
RETURN decision.decision_id AS decision_id
