// Write decisions and everything that follows from them, in one transaction: for each contact one check of
// its version, then its decisions in order. A contact with another version gives no row, and nothing is
// written about it; no contact gives one if the store moved to a model other than the given one. Python works
// out what is written; there is no rule here. Every pattern finds each node by one parameter: only then does
// this engine use the index of a key. What runs for many at once finds each node
// in a MATCH of its own, behind a WITH, for the same reason.
// mode: write
// script for each: each of contacts
// A merge or a split: the other contact must be as it was seen, or nothing is written.
// only when each.absorbs is not empty
MATCH (other:Contact {contact_key: $each.absorbs.contact_key})
WHERE other.version = $each.absorbs.version AND coalesce(other.absorbed_into, '') = ''
  AND NOT coalesce(other.is_erasing, false)
RETURN other.contact_key AS contact_key;

// A job that was leased since the look would go on with the contact that stays.
// only when each.parts is not empty
MATCH (contact:Contact {contact_key: $each.contact_key}),
      (other:Contact {contact_key: $each.parts.contact_key})
WHERE other.version = $each.parts.version
  AND NOT EXISTS { MATCH (contact)<-[:`WITH`]-(:Session)<-[:READS]-(:Job {state: 'running'}) }
RETURN other.contact_key AS contact_key;

// only when each.version is 0
MERGE (contact:Contact {contact_key: $each.contact_key})
  ON CREATE SET contact.tenant = $each.tenant, contact.agent_id = $each.agent_id,
                contact.contact_id = $each.contact_id, contact.name = $each.contact_id,
                contact.version = 0;

// A clock may step back; even then no decision about a contact is newer than last_decision_at. A session that
// this process knows needs no look of its own. If it is missing after all, there is no row, and the contact
// is read again as if nothing were known. It began no later than this note: every SET of a column leaves a
// version that each later one of it reads past. With one such session, as in live writes, one statement does both.
// only when each.known_sessions is one
// for each said of each.known_sessions
MATCH (contact:Contact {contact_key: $each.contact_key}),
      (session:Session {session_key: $said.session_key}), (store:Store {store_id: 'reconciler'})
WHERE contact.version = $each.version
  AND coalesce(store.embedding_model = $embedding_model, true)
SET contact.version = $each.next_version,
    contact.last_decision_at = CASE WHEN contact.last_decision_at > $each.at
                                    THEN contact.last_decision_at ELSE $each.at END,
    session.ended_at = CASE WHEN $said.ended_at > session.ended_at
                            THEN $said.ended_at ELSE session.ended_at END
RETURN contact.contact_key AS contact_key;

// only when each.known_sessions is not one
// for each said of each.known_sessions
MATCH (contact:Contact {contact_key: $each.contact_key}),
      (session:Session {session_key: $said.session_key})
WHERE contact.version = $each.version
SET session.ended_at = CASE WHEN $said.ended_at > session.ended_at
                            THEN $said.ended_at ELSE session.ended_at END
RETURN session.session_key AS session_key;

// only when each.known_sessions is not one
MATCH (contact:Contact {contact_key: $each.contact_key}), (store:Store {store_id: 'reconciler'})
WHERE contact.version = $each.version
  AND coalesce(store.embedding_model = $embedding_model, true)
SET contact.version = $each.next_version,
    contact.last_decision_at = CASE WHEN contact.last_decision_at > $each.at
                                    THEN contact.last_decision_at ELSE $each.at END
RETURN contact.contact_key AS contact_key;

// Every SET costs time until the log is merged, even if it changes nothing.
// only when each.name is not empty
MATCH (contact:Contact {contact_key: $each.contact_key})
SET contact.name = $each.name;

// The agent is introduced with the contact's first decision.
// only when each.version is 0
MATCH (contact:Contact {contact_key: $each.contact_key})
MERGE (agent:Agent {agent_key: $each.agent_key})
  ON CREATE SET agent.tenant = $each.tenant, agent.agent_id = $each.agent_id,
                agent.name = $each.agent_id
MERGE (agent)-[:KNOWS]->(contact);

// A merge moves all records of the other contact: from now on that contact is a way to this one. Keys of sessions
// and tasks stay, so a split knows what it gives back. Its decisions name their contact in their records.
// only when each.absorbs is not empty
MATCH (contact:Contact {contact_key: $each.contact_key}),
      (other:Contact {contact_key: $each.absorbs.contact_key})
SET contact.absorbed = CAST($each.absorbs.absorbed AS STRING[]),
    contact.has_forgotten = coalesce(contact.has_forgotten, false)
                              OR coalesce(other.has_forgotten, false),
    contact.name = CASE WHEN contact.name = contact.contact_id
                        THEN CASE WHEN other.name = other.contact_id THEN contact.name ELSE other.name END
                        ELSE contact.name END,
    other.version = $each.next_version;

// only when each.absorbs is not empty
UNWIND $each.absorbs.keys AS contact_key
MATCH (other:Contact {contact_key: contact_key})
SET other.absorbed_into = $each.contact_id;

// only when each.absorbs is not empty
MATCH (contact:Contact {contact_key: $each.contact_key}),
      (other:Contact {contact_key: $each.absorbs.contact_key})
MATCH (other)<-[link:ABOUT]-(fact:Fact)
CREATE (fact)-[:ABOUT]->(contact)
DELETE link;

// only when each.absorbs is not empty
MATCH (contact:Contact {contact_key: $each.contact_key}),
      (other:Contact {contact_key: $each.absorbs.contact_key})
MATCH (other)<-[link:`FOR`]-(decision:Decision)
CREATE (decision)-[:`FOR`]->(contact)
SET decision.record = replace(decision.record, $each.absorbs.before, $each.absorbs.after)
DELETE link;

// only when each.absorbs is not empty
MATCH (other:Contact {contact_key: $each.absorbs.contact_key})<-[:`WITH`]-(session:Session)
MATCH (session)<-[:READS]-(job:Job)
SET job.contact_id = $each.contact_id;

// only when each.absorbs is not empty
MATCH (contact:Contact {contact_key: $each.contact_key}),
      (other:Contact {contact_key: $each.absorbs.contact_key})
MATCH (other)<-[link:`WITH`]-(session:Session)
CREATE (session)-[:`WITH`]->(contact)
DELETE link;

// only when each.absorbs is not empty
MATCH (contact:Contact {contact_key: $each.contact_key}),
      (other:Contact {contact_key: $each.absorbs.contact_key})
MATCH (other)<-[link:CONCERNS]-(task:Task)
CREATE (task)-[:CONCERNS]->(contact)
DELETE link;

// for each said of each.sessions
MERGE (session:Session {session_key: $said.session_key})
  ON CREATE SET session.session_id = $said.session_id, session.channel = $said.channel,
                session.started_at = $said.started_at, session.ended_at = $said.ended_at
SET session.started_at = CASE WHEN $said.started_at < session.started_at
                              THEN $said.started_at ELSE session.started_at END,
    session.ended_at = CASE WHEN $said.ended_at > session.ended_at
                            THEN $said.ended_at ELSE session.ended_at END;

// for each said of each.sessions
MATCH (session:Session {session_key: $said.session_key}),
      (contact:Contact {contact_key: $each.contact_key})
MERGE (session)-[:`WITH`]->(contact);

// The evidence: new turns of this call, and turns that may be stored already and then stay unchanged.
// for each commit of each.commits
// for each told of commit.new_episodes
// all of them in one
MATCH (session:Session {session_key: $told.session_key})
CREATE (episode:Episode {
  episode_id: $told.episode_id, text: $told.text, source_kind: $told.source_kind,
  source_reference: $told.source_reference, said_at: $told.said_at
})-[:`IN`]->(session);

// for each commit of each.commits
// for each told of commit.episodes
MERGE (episode:Episode {episode_id: $told.episode_id})
  ON CREATE SET episode.text = $told.text, episode.said_at = $told.said_at,
                episode.source_kind = $told.source_kind,
                episode.source_reference = $told.source_reference;

// for each commit of each.commits
// for each told of commit.episodes
MATCH (session:Session {session_key: $told.session_key}),
      (episode:Episode {episode_id: $told.episode_id})
MERGE (episode)-[:`IN`]->(session);

// The decision, with or without a new fact, and the evidence of both.
// for each commit of each.commits
// only when commit.fact is not empty
// all of them in one
MATCH (contact:Contact {contact_key: $each.contact_key})
WITH *
MATCH (episode:Episode {episode_id: $commit.decision.episode_id})
CREATE (decision:Decision $commit.decision)-[:`FOR`]->(contact),
       (decision)-[:WROTE]->(fact:Fact {embedding: $commit.embedding, $commit.fact})
         -[:ABOUT]->(contact),
       (decision)-[:JUDGED {span: $commit.span}]->(episode),
       (fact)-[:EVIDENCED_BY {span: $commit.span}]->(episode);

// for each commit of each.commits
// only when commit.fact is empty
// all of them in one
MATCH (contact:Contact {contact_key: $each.contact_key})
WITH *
MATCH (episode:Episode {episode_id: $commit.decision.episode_id})
CREATE (decision:Decision $commit.decision)-[:`FOR`]->(contact),
       (decision)-[:JUDGED {span: $commit.span}]->(episode);

// for each commit of each.commits
// for each told of commit.more_evidence
MATCH (decision:Decision {decision_id: $commit.decision_id}),
      (episode:Episode {episode_id: $told.episode_id})
CREATE (decision)-[:JUDGED {span: $told.span}]->(episode);

// for each commit of each.commits
// for each told of commit.more_evidence
// only when commit.fact is not empty
MATCH (fact:Fact {fact_id: $commit.fact_id}), (episode:Episode {episode_id: $told.episode_id})
CREATE (fact)-[:EVIDENCED_BY {span: $told.span}]->(episode);

// An answer settles the question that was held for it.
// for each commit of each.commits
// only when commit.settles_id is not empty
MATCH (decision:Decision {decision_id: $commit.decision_id}),
      (held:Decision {decision_id: $commit.settles_id})
CREATE (decision)-[:SETTLES]->(held);

// Facts that a note may contradict stay live beside it.
// for each commit of each.commits
// for each conflicting_id of commit.conflicting_ids
MATCH (new:Fact {fact_id: $commit.fact_id}), (other:Fact {fact_id: $conflicting_id})
CREATE (new)-[:CONFLICTS_WITH {
  decided_by: $commit.said.decided_by, reason: $commit.said.reason, at: $commit.said.at
}]->(other);

// A person or model said that both hold: the link stays, but is no longer an open question.
// for each commit of each.commits
// for each pair of commit.closed
MATCH (one:Fact {fact_id: $pair.one_id}), (other:Fact {fact_id: $pair.other_id})
MATCH (one)-[conflict:CONFLICTS_WITH]->(other)
SET conflict.decided_by = 'answer', conflict.reason = $commit.said.reason,
    conflict.at = $commit.said.at;

// When facts end, their open conflicts stay open, and the facts beneath them stay linked. The evidence of a
// restated fact stays with that fact: a reader follows the links to it.
// for each commit of each.commits
// for each linked_id of commit.linked_ids
MATCH (new:Fact {fact_id: $commit.fact_id})
MATCH (old:Fact {fact_id: $linked_id})-[conflict:CONFLICTS_WITH]-(other:Fact)
// embedded: join old, conflict, other
WITH new, conflict, other
WHERE other.state IN ['live', 'expired', 'archived']
  AND NOT list_contains(CAST($commit.ended_so_far_ids AS STRING[]), other.fact_id)
  AND NOT coalesce(list_contains(CAST($commit.conflicting_ids AS STRING[]), other.fact_id), false)
MERGE (new)-[open:CONFLICTS_WITH]->(other)
  ON CREATE SET open.decided_by = conflict.decided_by, open.reason = conflict.reason,
                open.at = conflict.at;

// for each commit of each.commits
// for each link of commit.supersessions
MATCH (new:Fact {fact_id: $link.new_id}), (old:Fact {fact_id: $link.old_id})
CREATE (new)-[:SUPERSEDES {
  cosine: $link.cosine, decided_by: $link.decided_by, reason: $link.reason, at: $link.at,
  is_restatement: $link.is_restatement
}]->(old);

// The state of older facts after all commits: expired, renewed or ended.
// for each commit of each.commits
// for each change of commit.states
MATCH (old:Fact {fact_id: $change.fact_id})
SET old.state = $change.state, old.valid_to = $change.valid_to, old.is_void = $change.is_void;

// Facts that end without a successor.
// for each commit of each.commits
// for each revoked_id of commit.revoked_ids
MATCH (decision:Decision {decision_id: $commit.decision_id}), (old:Fact {fact_id: $revoked_id})
CREATE (decision)-[:REVOKED]->(old);

// A revoked fact does not come back without a question: the next writer looks for it.
// for each commit of each.commits
// only when commit.revoked_ids is not empty
MATCH (contact:Contact {contact_key: $each.contact_key})
SET contact.has_forgotten = true;

// One more observation of a fact that lives on.
// for each commit of each.commits
// only when commit.kept is not empty
MATCH (fact:Fact {fact_id: $commit.kept.fact_id}),
      (episode:Episode {episode_id: $commit.decision.episode_id})
SET fact.observations = $commit.kept.observations, fact.confidence = $commit.kept.confidence,
    fact.is_confirmed_by_user = $commit.kept.is_confirmed_by_user,
    fact.expires_at = $commit.kept.expires_at,
    fact.last_confirmed_at = $commit.kept.last_confirmed_at
CREATE (fact)-[:EVIDENCED_BY {span: $commit.span}]->(episode);

// It may have filled an empty slot.
// for each commit of each.commits
// only when commit.kept.subject is not empty
MATCH (fact:Fact {fact_id: $commit.kept.fact_id})
SET fact.subject = $commit.kept.subject, fact.attribute = $commit.kept.attribute,
    fact.value = $commit.kept.value, fact.value_key = $commit.kept.value_key,
    fact.is_single_valued = $commit.kept.is_single_valued, fact.is_known = $commit.kept.is_known,
    fact.is_personal = $commit.kept.is_personal, fact.slot_key = $commit.kept.slot_key;

// A revert puts facts back as they were, with their links.
// for each commit of each.commits
// for each before of commit.restored
MATCH (fact:Fact {fact_id: $before.fact_id})
SET fact.state = $before.state, fact.is_void = $before.is_void, fact.valid_to = $before.valid_to,
    fact.observations = $before.observations, fact.confidence = $before.confidence,
    fact.is_confirmed_by_user = $before.is_confirmed_by_user,
    fact.expires_at = $before.expires_at, fact.last_confirmed_at = $before.last_confirmed_at,
    fact.subject = $before.subject, fact.attribute = $before.attribute,
    fact.value = $before.value, fact.value_key = $before.value_key,
    fact.is_single_valued = $before.is_single_valued, fact.is_known = $before.is_known,
    fact.is_personal = $before.is_personal, fact.slot_key = $before.slot_key;

// for each commit of each.commits
// for each link of commit.unlinked
MATCH (new:Fact {fact_id: $link.new_id})-[supersedes:SUPERSEDES]->(old:Fact {fact_id: $link.old_id})
DELETE supersedes;

// for each commit of each.commits
// for each tie of commit.unrested
MATCH (told:Decision {decision_id: $tie.decision_id})-[:JUDGED]->(episode:Episode)
WHERE episode.episode_id = told.episode_id
MATCH (fact:Fact {fact_id: $tie.fact_id})-[resting:EVIDENCED_BY]->(episode)
DELETE resting;

// for each commit of each.commits
// for each tie of commit.rested
MATCH (told:Decision {decision_id: $tie.decision_id})-[judged:JUDGED]->(episode:Episode)
WHERE episode.episode_id = told.episode_id
MATCH (fact:Fact {fact_id: $tie.fact_id})
CREATE (fact)-[:EVIDENCED_BY {span: judged.span}]->(episode);

// A fact that is live again may contradict a fact that came in meanwhile: such a pair has no link yet.
// for each commit of each.commits
// for each pair of commit.reopened
MATCH (new:Fact {fact_id: $pair.new_id}), (old:Fact {fact_id: $pair.old_id})
MERGE (new)-[conflict:CONFLICTS_WITH]->(old)
SET conflict.decided_by = $pair.decided_by, conflict.reason = $pair.reason, conflict.at = $pair.at;

// for each commit of each.commits
// for each reverted_id of commit.reverted_ids
MATCH (decision:Decision {decision_id: $commit.decision_id}),
      (undone:Decision {decision_id: $reverted_id})
CREATE (decision)-[:REVERTED]->(undone);

// The compared facts, nearest first.
// for each commit of each.commits
// for each seen of commit.compared
// all of them in one
MATCH (decision:Decision {decision_id: $commit.decision_id})
WITH *
MATCH (neighbour:Fact {fact_id: $seen.fact_id})
CREATE (decision)-[:COMPARED_WITH {cosine: $seen.cosine, rank: $seen.rank}]->(neighbour);

// A split gives back the sessions and tasks with keys of the other contact, the decisions that came from them with
// their answers, and the facts that those decisions wrote. No record quotes a fact of the other contact any more: an
// erasure of that one would not find it. A question that did asks for its note alone, and so does its answer, which repeats it.
// only when each.unquoted is not empty
UNWIND $each.unquoted AS left
WITH left, left.decision_id AS decision_id
MATCH (decision:Decision {decision_id: decision_id})
SET decision.text = left.text, decision.reason = left.reason, decision.record = left.record,
    decision.arbiter_reasoning = left.arbiter_reasoning, decision.inference_key = left.inference_key,
    decision.lapses_at = CAST(left.lapses_at AS TIMESTAMP);

// only when each.unquoted is not empty
UNWIND $each.unquoted AS left
WITH left, left.decision_id AS decision_id
MATCH (decision:Decision {decision_id: decision_id})
MATCH (decision)<-[:SETTLES]-(answer:Decision)
MATCH (answer)-[:JUDGED]->(episode:Episode)
WHERE episode.text CONTAINS ': yes.\nAsked: '
SET episode.text = string_split(episode.text, '\nAsked: ')[1] + '\nAsked: ' + left.text;

// only when each.parts is not empty
MATCH (contact:Contact {contact_key: $each.contact_key}),
      (other:Contact {contact_key: $each.parts.contact_key})
SET contact.absorbed = CAST($each.parts.absorbed AS STRING[]),
    contact.name = CASE WHEN contact.name = other.name THEN contact.contact_id ELSE contact.name END,
    other.version = $each.next_version, other.absorbed_into = NULL,
    other.last_decision_at = contact.last_decision_at,
    other.has_forgotten = coalesce(contact.has_forgotten, false)
                            OR coalesce(other.has_forgotten, false);

// only when each.parts is not empty
MATCH (other:Contact {contact_key: $each.parts.contact_key})
UNWIND $each.parts.keys AS contact_key
MATCH (one:Contact {contact_key: contact_key})
WHERE one.contact_key <> other.contact_key
SET one.absorbed_into = other.contact_id;

// only when each.parts is not empty
MATCH (contact:Contact {contact_key: $each.contact_key}),
      (other:Contact {contact_key: $each.parts.contact_key})
MATCH (contact)<-[link:`WITH`]-(session:Session)
WHERE any(key IN $each.parts.keys WHERE session.session_key STARTS WITH (key + '/'))
CREATE (session)-[:`WITH`]->(other)
DELETE link;

// only when each.parts is not empty
MATCH (other:Contact {contact_key: $each.parts.contact_key})<-[:`WITH`]-(session:Session)
MATCH (session)<-[:READS]-(job:Job)
SET job.contact_id = other.contact_id;

// only when each.parts is not empty
MATCH (contact:Contact {contact_key: $each.contact_key}),
      (other:Contact {contact_key: $each.parts.contact_key})
MATCH (contact)<-[link:CONCERNS]-(task:Task)
WHERE any(key IN $each.parts.keys WHERE task.task_key STARTS WITH (key + '/'))
CREATE (task)-[:CONCERNS]->(other)
DELETE link;

// only when each.parts is not empty
MATCH (contact:Contact {contact_key: $each.contact_key}),
      (other:Contact {contact_key: $each.parts.contact_key})
MATCH (other)<-[:`WITH`]-(:Session)<-[:`IN`]-(episode:Episode)<-[:JUDGED]-(decision:Decision)
WHERE decision.episode_id = episode.episode_id
MATCH (decision)-[link:`FOR`]->(contact)
CREATE (decision)-[:`FOR`]->(other)
SET decision.record = replace(decision.record, $each.parts.before, $each.parts.after)
DELETE link;

// The answer to a question goes with it, and its words into the session of the question.
// only when each.parts is not empty
MATCH (contact:Contact {contact_key: $each.contact_key}),
      (other:Contact {contact_key: $each.parts.contact_key})
MATCH (other)<-[:`FOR`]-(held:Decision)<-[:SETTLES]-(answer:Decision)
MATCH (answer)-[link:`FOR`]->(contact)
CREATE (answer)-[:`FOR`]->(other)
SET answer.record = replace(answer.record, $each.parts.before, $each.parts.after)
DELETE link;

// Once more: a first yes may have led to another person's question.
// only when each.parts is not empty
MATCH (contact:Contact {contact_key: $each.contact_key}),
      (other:Contact {contact_key: $each.parts.contact_key})
MATCH (other)<-[:`FOR`]-(held:Decision)<-[:SETTLES]-(answer:Decision)
MATCH (answer)-[link:`FOR`]->(contact)
CREATE (answer)-[:`FOR`]->(other)
SET answer.record = replace(answer.record, $each.parts.before, $each.parts.after)
DELETE link;

// only when each.parts is not empty
MATCH (other:Contact {contact_key: $each.parts.contact_key})<-[:`FOR`]-(answer:Decision)
MATCH (answer)-[:SETTLES]->(held:Decision)
MATCH (held)-[:JUDGED]->(asked:Episode)-[:`IN`]->(session:Session)
WHERE asked.episode_id = held.episode_id
MATCH (answer)-[:JUDGED]->(episode:Episode)-[link:`IN`]->(elsewhere:Session)-[:`WITH`]->(contact:Contact)
WHERE episode.episode_id = answer.episode_id AND contact.contact_key = $each.contact_key
CREATE (episode)-[:`IN`]->(session)
DELETE link;

// only when each.parts is not empty
MATCH (contact:Contact {contact_key: $each.contact_key}),
      (other:Contact {contact_key: $each.parts.contact_key})
MATCH (other)<-[:`FOR`]-(decision:Decision)-[:WROTE]->(fact:Fact)
MATCH (fact)-[link:ABOUT]->(contact)
CREATE (fact)-[:ABOUT]->(other)
DELETE link;

// Neither contact's records name a fact of the other.
// only when each.parts is not empty
MATCH (contact:Contact {contact_key: $each.contact_key}),
      (other:Contact {contact_key: $each.parts.contact_key})
MATCH (contact)<-[:ABOUT]-(own:Fact)-[link:SUPERSEDES|CONFLICTS_WITH]->(fact:Fact)-[:ABOUT]->(other)
DELETE link;

// only when each.parts is not empty
MATCH (contact:Contact {contact_key: $each.contact_key}),
      (other:Contact {contact_key: $each.parts.contact_key})
MATCH (contact)<-[:ABOUT]-(own:Fact)<-[link:SUPERSEDES|CONFLICTS_WITH]-(fact:Fact)-[:ABOUT]->(other)
DELETE link;

// only when each.parts is not empty
MATCH (contact:Contact {contact_key: $each.contact_key}),
      (other:Contact {contact_key: $each.parts.contact_key})
MATCH (contact)<-[:`FOR`]-(decision:Decision)-[link:COMPARED_WITH]->(fact:Fact)-[:ABOUT]->(other)
DELETE link;

// only when each.parts is not empty
MATCH (contact:Contact {contact_key: $each.contact_key}),
      (other:Contact {contact_key: $each.parts.contact_key})
MATCH (other)<-[:`FOR`]-(decision:Decision)-[link:COMPARED_WITH]->(fact:Fact)-[:ABOUT]->(contact)
DELETE link
