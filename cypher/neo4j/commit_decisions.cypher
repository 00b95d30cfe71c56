// Write decisions and everything that follows from them, in one transaction: for each contact one check of
// its version, then its decisions in order. A contact with another version gives no row, and nothing is
// written about it; no contact gives one if the store moved to a model other than the given one. Python works
// out what is written; there is no rule here. It is one statement because a transaction of several costs 0.8
// ms a statement, together a third of the write. Names, titles and labels of how a fact ended are for Neo4j
// Browser only. Contacts come in the order of their keys, or two writers might wait for each other. The
// writer of a contact's first fact first takes the store's lock, which the end of a move to another model
// holds: a new contact has no lock of its own yet.
// mode: write
// times: as text
// only when contacts is without absorbs, parts, episodes, more_evidence, settles_id, closed, linked_ids, revoked_ids, reverted_ids, reopened, restored, unlinked, unrested, rested, unquoted
MATCH (store:Store {store_id: 'reconciler'})
FOREACH (_ IN CASE WHEN any(each IN $contacts WHERE each.version = 0) THEN [1] ELSE [] END |
  SET store.claimed_at = store.claimed_at)
WITH store
WHERE coalesce(store.embedding_model, $embedding_model, '')
        = coalesce($embedding_model, store.embedding_model, '')
UNWIND $contacts AS each
// rare
// Of two contacts that are merged, the one with the lesser key is locked first, too.
FOREACH (key IN CASE WHEN each.absorbs.contact_key < each.contact_key THEN [each.absorbs.contact_key]
                     WHEN each.parts.contact_key < each.contact_key THEN [each.parts.contact_key]
                     ELSE [] END |
  MERGE (other:Contact {contact_key: key})
  SET other.locked_by = each.commits[0].decision_id)
// end
MERGE (contact:Contact {contact_key: each.contact_key})
  ON CREATE SET contact.tenant = each.tenant, contact.agent_id = each.agent_id,
                contact.contact_id = each.contact_id, contact.name = each.contact_id,
                contact.version = 0
SET contact.locked_by = each.commits[0].decision_id
WITH contact, each WHERE contact.version = each.version
// rare
// A merge or a split: the other contact must be as it was seen, or nothing is written.
CALL (each) {
  OPTIONAL MATCH (other:Contact {contact_key: coalesce(each.absorbs.contact_key, each.parts.contact_key)})
  FOREACH (_ IN CASE WHEN other IS NULL THEN [] ELSE [1] END |
    SET other.locked_by = each.commits[0].decision_id)
  WITH each, other
  RETURN (each.absorbs IS NULL OR (other.version = each.absorbs.version AND other.absorbed_into IS NULL
                                   AND NOT coalesce(other.is_erasing, false)))
         // A job that was leased since the look would go on with the contact that stays.
         AND (each.parts IS NULL OR (other.version = each.parts.version AND NOT EXISTS {
           MATCH (:Contact {contact_key: each.contact_key})<-[:`WITH`]-(:Session)<-[:READS]-(:Job {state: 'running'})
         })) AS is_as_seen
}
WITH contact, each WHERE is_as_seen
// end
// A clock may step back; even then no decision about a contact is newer than last_decision_at.
SET contact.version = each.next_version,
    contact.name = coalesce(each.name, contact.name),
    contact.last_decision_at = CASE WHEN contact.last_decision_at > datetime(each.at)
                                    THEN contact.last_decision_at ELSE datetime(each.at) END
// The agent is introduced with the contact's first decision.
WITH contact, each
CALL (contact, each) {
  WITH contact, each WHERE each.version = 0
  MERGE (agent:Agent {agent_key: each.agent_key})
    ON CREATE SET agent.tenant = each.tenant, agent.agent_id = each.agent_id,
                  agent.name = each.agent_id
  MERGE (agent)-[:KNOWS]->(contact)
}
// rare
// A merge moves all records of the other contact: from now on that contact is a way to this one. Keys of sessions
// and tasks stay, so a split knows what it gives back. Its decisions name their contact in their records.
CALL (contact, each) {
  WITH contact, each WHERE each.absorbs IS NOT NULL
  MATCH (other:Contact {contact_key: each.absorbs.contact_key})
  SET contact.absorbed = each.absorbs.absorbed,
      contact.has_forgotten = coalesce(contact.has_forgotten, false)
                                OR coalesce(other.has_forgotten, false),
      contact.name = CASE WHEN contact.name = contact.contact_id AND other.name <> other.contact_id
                          THEN other.name ELSE contact.name END,
      other.version = each.next_version
  WITH contact, each, other
  CALL (contact, each) {
    UNWIND each.absorbs.keys AS key
    MATCH (one:Contact {contact_key: key})
    SET one.absorbed_into = contact.contact_id
  }
  CALL (contact, other) {
    MATCH (other)<-[link:ABOUT]-(fact:Fact)
    CREATE (fact)-[:ABOUT]->(contact)
    SET fact.contact_key = contact.contact_key
    DELETE link
    WITH contact, fact
    MATCH (fact)-[link:SUPERSEDES|CONFLICTS_WITH]->(:Fact)
    SET link.contact_key = contact.contact_key
  }
  CALL (contact, each, other) {
    MATCH (other)<-[link:`FOR`]-(decision:Decision)
    CREATE (decision)-[:`FOR`]->(contact)
    SET decision.contact_key = contact.contact_key,
        decision.record = replace(decision.record, each.absorbs.before, each.absorbs.after)
    DELETE link
  }
  CALL (contact, other) {
    MATCH (other)<-[:`WITH`]-(:Session)<-[:READS]-(job:Job)
    SET job.contact_id = contact.contact_id
  }
  CALL (contact, other) {
    MATCH (other)<-[link:`WITH`]-(session:Session)
    CREATE (session)-[:`WITH`]->(contact)
    DELETE link
  }
  CALL (contact, other) {
    MATCH (other)<-[link:CONCERNS]-(task:Task)
    CREATE (task)-[:CONCERNS]->(contact)
    DELETE link
  }
}
// end
CALL (contact, each) {
  UNWIND each.known_sessions + each.sessions AS said
  WITH contact, said, datetime(said.started_at) AS started_at, datetime(said.ended_at) AS ended_at
  MERGE (session:Session {session_key: said.session_key})
    ON CREATE SET session.session_id = said.session_id, session.channel = said.channel,
                  session.started_at = started_at, session.ended_at = ended_at,
                  session.title = said.session_id
  SET session.started_at = CASE WHEN started_at < session.started_at
                                THEN started_at ELSE session.started_at END,
      session.ended_at = CASE WHEN ended_at > session.ended_at
                              THEN ended_at ELSE session.ended_at END
  MERGE (session)-[:`WITH`]->(contact)
}
// The evidence: new turns of this call, and turns that may be stored already and then stay unchanged.
CALL (each) {
  UNWIND each.commits AS commit
  UNWIND commit.new_episodes AS told
  MATCH (session:Session {session_key: told.session_key})
  CREATE (episode:Episode {
    episode_id: told.episode_id, text: told.text, source_kind: told.source_kind,
    source_reference: told.source_reference, said_at: datetime(told.said_at),
    title: caption(told.text)
  })-[:`IN`]->(session)
}
// rare
CALL (each) {
  UNWIND each.commits AS commit
  UNWIND commit.episodes AS told
  MATCH (session:Session {session_key: told.session_key})
  MERGE (episode:Episode {episode_id: told.episode_id})
    ON CREATE SET episode.text = told.text, episode.said_at = datetime(told.said_at),
                  episode.source_kind = told.source_kind,
                  episode.source_reference = told.source_reference,
                  episode.title = caption(told.text)
  MERGE (episode)-[:`IN`]->(session)
}
// end
// The decision, with or without a new fact, and the evidence of both. A map's times are texts, so they are
// set again. The procedure stores the vector in half the space of a SET.
CALL (contact, each) {
  UNWIND each.commits AS commit
  MATCH (episode:Episode {episode_id: commit.decision.episode_id})
  CREATE (contact)<-[:`FOR`]-(decision:Decision)-[:JUDGED {span: commit.span}]->(episode)
  SET decision = commit.decision, decision.contact_key = contact.contact_key, decision.unplaced = true,
      decision.at = datetime(commit.decision.at),
      decision.lapses_at = datetime(commit.decision.lapses_at),
      decision.title = commit.decision.action + ' by ' + commit.decision.decided_by + coalesce(' ' + toString(round(commit.decision.cosine, 2)), '')
  WITH contact, commit, decision, episode WHERE commit.fact IS NOT NULL
  CREATE (contact)<-[:ABOUT]-(fact:Fact)<-[:WROTE]-(decision),
         (fact)-[:EVIDENCED_BY {span: commit.span}]->(episode)
  SET fact = commit.fact, fact.contact_key = contact.contact_key,
      fact.name = caption(commit.fact.text),
      fact.recorded_at = datetime(commit.fact.recorded_at),
      fact.valid_from = datetime(commit.fact.valid_from),
      fact.first_held_from = datetime(commit.fact.first_held_from),
      fact.valid_to = datetime(commit.fact.valid_to),
      fact.last_confirmed_at = datetime(commit.fact.last_confirmed_at),
      fact.expires_at = datetime(commit.fact.expires_at),
      fact.last_recalled_at = datetime(commit.fact.last_recalled_at),
      fact:$(CASE commit.fact.state WHEN 'live' THEN [] ELSE [toUpper(left(commit.fact.state, 1)) + substring(commit.fact.state, 1)] END)
  WITH fact, commit WHERE commit.embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(fact, 'embedding', commit.embedding)
}
// rare
CALL (each) {
  UNWIND each.commits AS commit
  UNWIND commit.more_evidence AS told
  MATCH (decision:Decision {decision_id: commit.decision_id})
  MATCH (episode:Episode {episode_id: told.episode_id})
  CREATE (decision)-[:JUDGED {span: told.span}]->(episode)
  WITH decision, episode, told
  MATCH (decision)-[:WROTE]->(fact:Fact)
  CREATE (fact)-[:EVIDENCED_BY {span: told.span}]->(episode)
}
// An answer settles the question that was held for it.
CALL (each) {
  UNWIND each.commits AS commit
  WITH commit WHERE commit.settles_id IS NOT NULL
  MATCH (decision:Decision {decision_id: commit.decision_id})
  MATCH (held:Decision {decision_id: commit.settles_id})
  CREATE (decision)-[:SETTLES]->(held)
}
// end
// Facts that a note may contradict stay live beside it. One in five hundred notes has some, and the first plan of
// the whole text takes many seconds.
CALL (each) {
  UNWIND each.commits AS commit
  UNWIND commit.conflicting_ids AS conflicting_id
  MATCH (new:Fact {fact_id: commit.fact_id})
  MATCH (other:Fact {fact_id: conflicting_id})
  CREATE (new)-[conflict:CONFLICTS_WITH]->(other)
  SET conflict.decided_by = commit.said.decided_by, conflict.reason = commit.said.reason,
      conflict.at = datetime(commit.said.at), conflict.contact_key = each.contact_key
}
// rare
// A person or model said that both hold: the link stays, but is no longer an open question.
CALL (each) {
  UNWIND each.commits AS commit
  UNWIND commit.closed AS pair
  MATCH (one:Fact {fact_id: pair.one_id})
  MATCH (one)-[conflict:CONFLICTS_WITH]->(:Fact {fact_id: pair.other_id})
  SET conflict.decided_by = 'answer', conflict.reason = commit.said.reason,
      conflict.at = datetime(commit.said.at)
}
// When facts end, their open conflicts stay open, and the facts beneath them stay linked. The evidence of a
// restated fact stays with that fact: a reader follows the links to it. Each commit has its own subquery,
// because it sees what the one before it wrote.
CALL (each) {
  UNWIND each.commits AS commit
  CALL (each, commit) {
    UNWIND commit.linked_ids AS linked_id
    MATCH (new:Fact {fact_id: commit.fact_id})
    MATCH (old:Fact {fact_id: linked_id})-[conflict:CONFLICTS_WITH]-(other:Fact)
    WHERE other.state IN ['live', 'expired', 'archived'] AND NOT other.fact_id IN commit.ended_so_far_ids
      AND NOT other.fact_id IN coalesce(commit.conflicting_ids, [])
    MERGE (new)-[open:CONFLICTS_WITH]->(other)
      ON CREATE SET open.decided_by = conflict.decided_by, open.reason = conflict.reason,
                    open.at = conflict.at, open.contact_key = each.contact_key
  }
}
// end
CALL (each) {
  UNWIND each.commits AS commit
  UNWIND commit.supersessions AS link
  MATCH (new:Fact {fact_id: link.new_id})
  MATCH (old:Fact {fact_id: link.old_id})
  CREATE (new)-[supersedes:SUPERSEDES]->(old)
  SET supersedes.cosine = link.cosine, supersedes.decided_by = link.decided_by,
      supersedes.reason = link.reason, supersedes.at = datetime(link.at),
      supersedes.is_restatement = link.is_restatement, supersedes.contact_key = each.contact_key
}
// The state of older facts after all commits: expired, renewed or ended.
CALL (each) {
  UNWIND each.commits AS commit
  UNWIND commit.states AS change
  MATCH (old:Fact {fact_id: change.fact_id})
  REMOVE old:Expired:Archived:Superseded:Revoked:Erased
  SET old:$(CASE change.state WHEN 'live' THEN [] ELSE [toUpper(left(change.state, 1)) + substring(change.state, 1)] END),
      old.state = change.state, old.valid_to = datetime(change.valid_to),
      old.is_void = change.is_void
}
// rare
// Facts that end without a successor.
CALL (each) {
  UNWIND each.commits AS commit
  UNWIND commit.revoked_ids AS revoked_id
  MATCH (decision:Decision {decision_id: commit.decision_id})
  MATCH (old:Fact {fact_id: revoked_id})
  CREATE (decision)-[:REVOKED]->(old)
}
// A revoked fact does not come back without a question: the next writer looks for it.
CALL (each) {
  WITH each WHERE any(commit IN each.commits WHERE size(commit.revoked_ids) > 0)
  MATCH (contact:Contact {contact_key: each.contact_key})
  SET contact.has_forgotten = true
}
// end
// One more observation of a fact that lives on; it may have filled an empty slot.
CALL (each) {
  UNWIND each.commits AS commit
  WITH commit WHERE commit.kept IS NOT NULL
  MATCH (fact:Fact {fact_id: commit.kept.fact_id})
  SET fact += commit.kept,
      fact.last_confirmed_at = datetime(commit.kept.last_confirmed_at),
      fact.expires_at = datetime(commit.kept.expires_at)
  WITH fact, commit
  MATCH (episode:Episode {episode_id: commit.decision.episode_id})
  CREATE (fact)-[:EVIDENCED_BY {span: commit.span}]->(episode)
}
// rare
// A revert puts facts back as they were, with their links. An archiving, or its reversal, changes the state
// of facts. A relation may put facts in conflict.
CALL (each) {
  UNWIND each.commits AS commit
  WITH each, commit WHERE size(commit.reverted_ids) + size(commit.restored) + size(commit.reopened) > 0
  CALL (commit) {
    UNWIND commit.restored AS before
    MATCH (fact:Fact {fact_id: before.fact_id})
    REMOVE fact:Expired:Archived:Superseded:Revoked:Erased
    SET fact:$(CASE before.state WHEN 'live' THEN [] ELSE [toUpper(left(before.state, 1)) + substring(before.state, 1)] END),
        fact.state = before.state, fact.is_void = before.is_void,
        fact.valid_to = datetime(before.valid_to),
        fact.observations = before.observations, fact.confidence = before.confidence,
        fact.is_confirmed_by_user = before.is_confirmed_by_user,
        fact.expires_at = datetime(before.expires_at),
        fact.last_confirmed_at = datetime(before.last_confirmed_at),
        fact.subject = before.subject, fact.attribute = before.attribute,
        fact.value = before.value, fact.value_key = before.value_key,
        fact.is_single_valued = before.is_single_valued, fact.is_known = before.is_known,
        fact.is_personal = before.is_personal, fact.slot_key = before.slot_key
  }
  CALL (commit) {
    UNWIND commit.unlinked AS link
    MATCH (:Fact {fact_id: link.new_id})-[supersedes:SUPERSEDES]->(:Fact {fact_id: link.old_id})
    DELETE supersedes
  }
  CALL (commit) {
    UNWIND commit.unrested AS tie
    MATCH (told:Decision {decision_id: tie.decision_id})
    MATCH (:Fact {fact_id: tie.fact_id})-[resting:EVIDENCED_BY]->(:Episode {episode_id: told.episode_id})
    DELETE resting
  }
  CALL (commit) {
    UNWIND commit.rested AS tie
    MATCH (fact:Fact {fact_id: tie.fact_id})
    MATCH (told:Decision {decision_id: tie.decision_id})
    MATCH (told)-[judged:JUDGED]->(episode:Episode {episode_id: told.episode_id})
    CREATE (fact)-[:EVIDENCED_BY {span: judged.span}]->(episode)
  }
  // A fact that is live again may contradict a fact that came in meanwhile: such a pair has no link yet.
  CALL (each, commit) {
    UNWIND commit.reopened AS pair
    MATCH (new:Fact {fact_id: pair.new_id})
    MATCH (old:Fact {fact_id: pair.old_id})
    MERGE (new)-[conflict:CONFLICTS_WITH]->(old)
    SET conflict.decided_by = pair.decided_by, conflict.reason = pair.reason,
        conflict.at = datetime(pair.at), conflict.contact_key = each.contact_key
  }
  UNWIND commit.reverted_ids AS reverted_id
  MATCH (decision:Decision {decision_id: commit.decision_id})
  MATCH (undone:Decision {decision_id: reverted_id})
  CREATE (decision)-[:REVERTED]->(undone)
}
// end
// The compared facts, nearest first: exact for a replay, and rounded for people who look at the graph.
CALL (each) {
  UNWIND each.commits AS commit
  MATCH (decision:Decision {decision_id: commit.decision_id})
  UNWIND commit.compared AS seen
  MATCH (neighbour:Fact {fact_id: seen.fact_id})
  CREATE (decision)-[:COMPARED_WITH {cosine: seen.cosine, rank: seen.rank, title: toString(round(seen.cosine, 4))}]->(neighbour)
}
// rare
// A split gives back the sessions and tasks with keys of the other contact, the decisions that came from them with
// their answers, and the facts that those decisions wrote. Neither contact's records name or quote a fact of the other
// any more: an erasure of that one would not find it. A question that did asks for its note alone, and so does its
// answer, which repeats it.
CALL (each) {
  UNWIND each.unquoted AS left
  MATCH (decision:Decision {decision_id: left.decision_id})
  SET decision.text = left.text, decision.reason = left.reason, decision.record = left.record,
      decision.arbiter_reasoning = left.arbiter_reasoning,
      decision.inference_key = left.inference_key, decision.lapses_at = datetime(left.lapses_at)
  WITH decision, left
  MATCH (decision)<-[:SETTLES]-(:Decision)-[:JUDGED]->(episode:Episode)
  WHERE episode.text CONTAINS ': yes.\nAsked: '
  WITH episode, split(episode.text, '\nAsked: ')[0] + '\nAsked: ' + left.text AS asked
  SET episode.text = asked, episode.title = caption(asked)
}
CALL (contact, each) {
  WITH contact, each WHERE each.parts IS NOT NULL
  MATCH (other:Contact {contact_key: each.parts.contact_key})
  SET contact.absorbed = each.parts.absorbed,
      contact.name = CASE WHEN contact.name = other.name THEN contact.contact_id ELSE contact.name END,
      other.version = each.next_version, other.absorbed_into = NULL,
      other.last_decision_at = contact.last_decision_at,
      other.has_forgotten = coalesce(contact.has_forgotten, false)
                              OR coalesce(other.has_forgotten, false)
  WITH contact, each, other
  CALL (each, other) {
    UNWIND each.parts.keys AS key
    MATCH (one:Contact {contact_key: key}) WHERE one <> other
    SET one.absorbed_into = other.contact_id
  }
  CALL (contact, each, other) {
    MATCH (contact)<-[link:`WITH`]-(session:Session)
    WHERE any(key IN each.parts.keys WHERE session.session_key STARTS WITH (key + '/'))
    CREATE (session)-[:`WITH`]->(other)
    DELETE link
    WITH other, session
    MATCH (session)<-[:READS]-(job:Job)
    SET job.contact_id = other.contact_id
  }
  CALL (contact, each, other) {
    MATCH (contact)<-[link:CONCERNS]-(task:Task)
    WHERE any(key IN each.parts.keys WHERE task.task_key STARTS WITH (key + '/'))
    CREATE (task)-[:CONCERNS]->(other)
    DELETE link
  }
  CALL (contact, other) {
    MATCH (other)<-[:`WITH`]-(:Session)<-[:`IN`]-(episode:Episode)<-[:JUDGED]-(own:Decision)
    WHERE own.episode_id = episode.episode_id
    WITH DISTINCT contact, own
    MATCH (contact)<-[:`FOR`]-(own)
    OPTIONAL MATCH (own)<-[:SETTLES*1..2]-(answer:Decision)-[:`FOR`]->(contact)
    RETURN collect(DISTINCT own) + collect(DISTINCT answer) AS given
  }
  CALL (contact, each, other, given) {
    UNWIND given AS decision
    WITH DISTINCT contact, each, other, decision
    MATCH (decision)-[link:`FOR`]->(contact)
    CREATE (decision)-[:`FOR`]->(other)
    SET decision.contact_key = other.contact_key,
        decision.record = replace(decision.record, each.parts.before, each.parts.after)
    DELETE link
  }
  // The words of an answer go into the session of its question.
  CALL (contact, given) {
    UNWIND given AS answer
    MATCH (answer)-[:SETTLES]->(held:Decision)-[:JUDGED]->(asked:Episode)-[:`IN`]->(session:Session)
    WHERE asked.episode_id = held.episode_id
    MATCH (answer)-[:JUDGED]->(episode:Episode)-[link:`IN`]->(:Session)-[:`WITH`]->(contact)
    WHERE episode.episode_id = answer.episode_id
    WITH DISTINCT session, episode, link
    CREATE (episode)-[:`IN`]->(session)
    DELETE link
  }
  CALL (contact, other, given) {
    UNWIND given AS decision
    MATCH (decision)-[:WROTE]->(fact:Fact)-[link:ABOUT]->(contact)
    WITH DISTINCT contact, other, fact, link
    CREATE (fact)-[:ABOUT]->(other)
    SET fact.contact_key = other.contact_key
    DELETE link
    WITH contact, other, fact
    OPTIONAL MATCH (fact)-[held:SUPERSEDES|CONFLICTS_WITH]->(:Fact)
    SET held.contact_key = other.contact_key
  }
  CALL (contact, other) {
    MATCH (other)<-[:ABOUT]-(:Fact)-[link:SUPERSEDES|CONFLICTS_WITH]-(:Fact)-[:ABOUT]->(contact)
    DELETE link
  }
  CALL (contact, other) {
    MATCH (other)<-[:ABOUT]-(:Fact)<-[link:COMPARED_WITH]-(:Decision)-[:`FOR`]->(contact)
    DELETE link
  }
  CALL (contact, other) {
    MATCH (contact)<-[:ABOUT]-(:Fact)<-[link:COMPARED_WITH]-(:Decision)-[:`FOR`]->(other)
    DELETE link
  }
}
// end
RETURN each.contact_key AS contact_key
