// Write one decision and all that follows from it; no row means that another writer came first.
// The contact's lock is taken by writing to it, and only then is its version compared: without the
// first SET two writers both read the old version. Everything hangs on that one row; of a writer
// that lost nothing stays but its id in locked_by.
// mode: write
// params: tenant, agent_id, agent_key, contact_id, contact_key, contact_name, version, session_id, session_key, episode_id, text, episode_text, episode_said_at, episode_source, episode_reference, span, said_at, valid_from, source_kind, subject, attribute, value, value_key, is_single_valued, is_known, is_personal, slot_key, decision_id, action, decided_by, cosine, reason, embedding_model, arbiter_reasoning, door, at, fact_id, superseded_ids, conflicting_ids, history_of_id, history_to, restated_id, is_restatement, is_contested, importance, embedding, neighbour_ids, neighbour_cosines, disposal, gate_reason, confidence, category, topic, tags, sensitivity, is_redacted, recall_semantics, yields_to_live_intent, expires_at, lapses_at, inference_key, proposed_by, answered_by, is_confirmed_by_user, settles_id, held_id, more_episode_ids, more_episode_texts, more_episode_times, more_episode_sources, more_episode_references, more_episode_spans, more_session_ids, more_session_keys, confirming_confidence, record
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
MERGE (episode:Episode {episode_id: $episode_id})
  ON CREATE SET episode.text = $episode_text, episode.said_at = $episode_said_at,
                episode.source_kind = $episode_source,
                episode.source_reference = $episode_reference
MERGE (episode)-[:`IN`]->(session)
CREATE (decision:Decision {
  decision_id: $decision_id, action: $action, decided_by: $decided_by, reason: $reason,
  text: $text, cosine: $cosine, fact_id: $fact_id, arbiter_reasoning: $arbiter_reasoning,
  door: $door, trust: $source_kind, at: $at, episode_id: $episode_id, session_id: $session_id,
  disposal: $disposal, gate_reason: $gate_reason, inference_key: $inference_key,
  lapses_at: $lapses_at, proposed_by: $proposed_by, answered_by: $answered_by,
  settles_id: $settles_id, held_id: $held_id, record: $record
})-[:`FOR`]->(contact)
CREATE (decision)-[:JUDGED {span: $span}]->(episode)
// Further evidence, each in its own session; what is stored already stays as it is.
WITH contact, decision, episode
CALL (contact, decision) {
  UNWIND range(0, size(coalesce($more_episode_ids, [])) - 1) AS place
  MERGE (more:Session {session_key: $more_session_keys[place]})
    ON CREATE SET more.session_id = $more_session_ids[place], more.channel = $door,
                  more.started_at = $more_episode_times[place],
                  more.ended_at = $more_episode_times[place]
  MERGE (more)-[:`WITH`]->(contact)
  MERGE (evidence:Episode {episode_id: $more_episode_ids[place]})
    ON CREATE SET evidence.text = $more_episode_texts[place],
                  evidence.said_at = $more_episode_times[place],
                  evidence.source_kind = $more_episode_sources[place],
                  evidence.source_reference = $more_episode_references[place]
  MERGE (evidence)-[:`IN`]->(more)
  CREATE (decision)-[:JUDGED {span: $more_episode_spans[place]}]->(evidence)
}
// An answer settles the question that was held for it.
CALL (decision) {
  WITH decision WHERE $settles_id IS NOT NULL
  MATCH (held:Decision {decision_id: $settles_id})
  CREATE (decision)-[:SETTLES]->(held)
}
// ADD and UPDATE: the new fact. The procedure keeps the vector in half the space of a SET.
WITH contact, decision, episode
CALL (contact, decision, episode) {
  WITH * WHERE $action IN ['ADD', 'UPDATE']
  CREATE (fact:Fact {
    fact_id: $fact_id, text: $text, subject: $subject, attribute: $attribute, value: $value,
    value_key: $value_key, is_single_valued: $is_single_valued, is_known: $is_known,
    is_personal: $is_personal, slot_key: $slot_key, importance: $importance,
    trust: $source_kind, observations: 1, recorded_at: $at, valid_from: $valid_from,
    valid_to: $history_to, last_confirmed_at: $said_at, is_live: $history_of_id IS NULL,
    is_contested: $is_contested, category: $category, topic: $topic, tags: $tags,
    confidence: $confidence, sensitivity: $sensitivity, is_redacted: $is_redacted,
    recall_semantics: $recall_semantics, yields_to_live_intent: $yields_to_live_intent,
    expires_at: $expires_at, is_confirmed_by_user: $is_confirmed_by_user,
    embedding_model: $embedding_model
  })-[:ABOUT]->(contact)
  CREATE (decision)-[:WROTE]->(fact)
  WITH fact, decision
  CALL (fact, decision) {
    MATCH (decision)-[judged:JUDGED]->(judged_episode:Episode)
    CREATE (fact)-[:EVIDENCED_BY {span: judged.span}]->(judged_episode)
  }
  WITH fact WHERE $embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(fact, 'embedding', $embedding)
}
// UPDATE: the old facts end. Their open conflicts stay open. A restatement takes observations and
// evidence of the one it repeats along, and its slot where the note has none; an episode that the
// old one rests on already is neither counted again nor makes surer.
CALL () {
  WITH * WHERE $action = 'UPDATE'
  MATCH (new:Fact {fact_id: $fact_id})
  UNWIND $superseded_ids AS superseded_id
  MATCH (old:Fact {fact_id: superseded_id})
  SET old.is_live = false, old.valid_to = $valid_from
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
  WITH new, old, coalesce(old.confidence, 1.0) AS confidence,
       EXISTS { MATCH (old)-[:EVIDENCED_BY]->(:Episode {episode_id: $episode_id}) } AS is_read_again
  WHERE old.fact_id = $restated_id
  SET new.observations = CASE WHEN is_read_again THEN old.observations
                              ELSE old.observations + 1 END,
      new.confidence = CASE WHEN NOT is_read_again THEN 1 - (1 - confidence) * (1 - new.confidence)
                            WHEN confidence > new.confidence THEN confidence
                            ELSE new.confidence END,
      new.is_confirmed_by_user = new.is_confirmed_by_user
                                 OR coalesce(old.is_confirmed_by_user, false),
      new.category = CASE WHEN old.category = 'decision' THEN old.category ELSE new.category END,
      new.recall_semantics = CASE WHEN old.category = 'decision' THEN old.recall_semantics
                                  ELSE new.recall_semantics END,
      new.yields_to_live_intent = CASE WHEN old.category = 'decision'
                                       THEN old.yields_to_live_intent
                                       ELSE new.yields_to_live_intent END,
      new.expires_at = CASE WHEN old.category = 'decision' OR old.expires_at > $expires_at
                            THEN old.expires_at ELSE $expires_at END,
      new.sensitivity = CASE WHEN $sensitivity = 'none' THEN coalesce(old.sensitivity, 'none')
                             ELSE $sensitivity END,
      new.last_confirmed_at = CASE WHEN $said_at < old.last_confirmed_at
                                   THEN old.last_confirmed_at ELSE $said_at END,
      new.subject = CASE WHEN $subject IS NULL THEN old.subject ELSE $subject END,
      new.attribute = CASE WHEN $subject IS NULL THEN old.attribute ELSE $attribute END,
      new.value = CASE WHEN $subject IS NULL THEN old.value ELSE $value END,
      new.value_key = CASE WHEN $subject IS NULL THEN old.value_key ELSE $value_key END,
      new.slot_key = CASE WHEN $subject IS NULL THEN old.slot_key ELSE $slot_key END,
      new.is_single_valued = CASE WHEN $subject IS NULL THEN old.is_single_valued
                                  ELSE $is_single_valued END,
      new.is_known = CASE WHEN $subject IS NULL THEN old.is_known ELSE $is_known END,
      new.is_personal = CASE WHEN $subject IS NULL THEN old.is_personal ELSE $is_personal END
  WITH new, old
  MATCH (old)-[said:EVIDENCED_BY]->(earlier:Episode)
  MERGE (new)-[again:EVIDENCED_BY]->(earlier)
    ON CREATE SET again.span = said.span
}
// An older note: it lies beneath the newer fact, which takes a restatement's evidence, once.
CALL (episode) {
  WITH episode WHERE $history_of_id IS NOT NULL
  MATCH (new:Fact {fact_id: $fact_id})
  MATCH (above:Fact {fact_id: $history_of_id})
  CREATE (above)-[:SUPERSEDES {
    cosine: $cosine, decided_by: $decided_by, reason: $reason, at: $at,
    is_restatement: $is_restatement
  }]->(new)
  WITH above, episode
  WHERE $is_restatement AND NOT EXISTS { MATCH (above)-[:EVIDENCED_BY]->(episode) }
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
// REVOKE: the facts end, and nothing takes their place.
CALL (decision) {
  WITH decision WHERE $action = 'REVOKE'
  UNWIND $superseded_ids AS revoked_id
  MATCH (old:Fact {fact_id: revoked_id})
  SET old.is_live = false, old.valid_to = $valid_from
  CREATE (decision)-[:REVOKED]->(old)
}
// SKIP: one more observation of the fact that says it already, which lives on. An episode counts
// once, however often it is read.
CALL (episode) {
  WITH episode WHERE $action = 'SKIP'
  MATCH (fact:Fact {fact_id: $fact_id})
  WHERE NOT EXISTS { MATCH (fact)-[:EVIDENCED_BY]->(episode) }
  SET fact.observations = fact.observations + 1,
      fact.confidence = 1 - (1 - coalesce(fact.confidence, 1.0)) * (1 - $confirming_confidence),
      fact.is_confirmed_by_user = coalesce(fact.is_confirmed_by_user, false)
                                  OR $is_confirmed_by_user,
      fact.expires_at = CASE WHEN fact.expires_at < $expires_at
                             THEN $expires_at ELSE fact.expires_at END,
      fact.last_confirmed_at = CASE WHEN $said_at > fact.last_confirmed_at
                                    THEN $said_at ELSE fact.last_confirmed_at END
  CREATE (fact)-[:EVIDENCED_BY {span: $span}]->(episode)
}
// What it was compared with, nearest first.
CALL (decision) {
  UNWIND range(1, size($neighbour_ids)) AS rank
  MATCH (neighbour:Fact {fact_id: $neighbour_ids[rank - 1]})
  CREATE (decision)-[:COMPARED_WITH {cosine: $neighbour_cosines[rank - 1], rank: rank}]->(neighbour)
}
RETURN decision.decision_id AS decision_id
