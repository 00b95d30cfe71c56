// Mark what will be erased, in one transaction and at one version of the contact. From then on the gate knows
// of it, its jobs end or start again, and notes that say the same are held. No row means that another writer
// came first.
// mode: write
MATCH (contact:Contact {contact_key: $contact_key})
WHERE contact.version = $version
SET contact.version = $next_version, contact.has_forgotten = true,
    contact.is_erasing = CASE WHEN $is_whole THEN true ELSE contact.is_erasing END
RETURN contact.contact_key AS contact_key;

MATCH (contact:Contact {contact_key: $contact_key})
CREATE (erasure:Erasure {
  erasure_id: $erasure.erasure_id, tenant: $erasure.tenant, agent_id: $erasure.agent_id,
  contact_key: $erasure.contact_key, target_kind: $erasure.target_kind, target: $erasure.target,
  state: $erasure.state, `by`: $erasure.by, reason: $erasure.reason,
  started_at: $erasure.started_at, plan: $erasure.plan
})-[:ERASES]->(contact);

// Words of a contact that others were merged into are forgotten under the key of each.
// only when tombstones is not empty
UNWIND $tombstones AS buried
MERGE (tombstone:Tombstone {tombstone_key: buried.tombstone_key})
  ON CREATE SET tombstone.contact_key = buried.contact_key, tombstone.at = $at,
                tombstone.erasure_id = $erasure.erasure_id;

// for each session_key of ended_keys
MATCH (session:Session {session_key: $session_key})
SET session.erased_at = $at;

// for each session_key of ended_keys
MATCH (session:Session {session_key: $session_key})
MATCH (session)<-[:READS]-(job:Job)
SET job.state = 'done', job.finished_at = coalesce(job.finished_at, $at), job.leased_by = NULL;

// From now on no note is compared with these facts, so none replaces one and carries its words along.
// only when fact_ids is not empty
UNWIND $fact_ids AS fact_id
MATCH (fact:Fact {fact_id: fact_id})
SET fact.state = 'erased';

// What was read from these sessions names erased words, so the holder of such a job loses it.
// for each session_key of rewound_keys
MATCH (session:Session {session_key: $session_key})
MATCH (session)<-[:READS]-(job:Job)
SET job.due_at = CASE WHEN job.state = 'running' THEN $at ELSE job.due_at END,
    job.state = CASE WHEN job.state = 'running' THEN 'waiting' ELSE job.state END,
    job.leased_by = NULL, job.proposals = NULL;

// A new reading of them finds nothing of the erased words.
// for each each of episodes
MATCH (episode:Episode {episode_id: $each.episode_id})
SET episode.text = $each.text
