// Keep a session's turns, each once, and for a job_id the job that reads the new ones. It is one transaction,
// so a handed-over session is stored whole, with its job. Stored turns stay unchanged, so a second hand-over
// adds only what is new. Links are looked for and made instead of merged, and episodes too: MERGE of a link,
// and of a node by a key out of a list, reads the whole table. This engine has one writer at a time. A
// contact that is being erased or was merged into another, or an erased session, takes no turn and gives no row.
// mode: write
MERGE (contact:Contact {contact_key: $contact_key})
  ON CREATE SET contact.tenant = $tenant, contact.agent_id = $agent_id,
                contact.contact_id = $contact_id, contact.name = $contact_id,
                contact.version = 0;

MATCH (contact:Contact {contact_key: $contact_key})
WHERE NOT coalesce(contact.is_erasing, false) AND coalesce(contact.absorbed_into, '') = ''
RETURN contact.contact_key AS contact_key;

MERGE (agent:Agent {agent_key: $agent_key})
  ON CREATE SET agent.tenant = $tenant, agent.agent_id = $agent_id, agent.name = $agent_id;

MATCH (agent:Agent {agent_key: $agent_key}), (contact:Contact {contact_key: $contact_key})
WHERE NOT EXISTS { MATCH (agent)-[:KNOWS]->(contact) }
CREATE (agent)-[:KNOWS]->(contact);

MERGE (session:Session {session_key: $session_key})
  ON CREATE SET session.session_id = $session_id, session.started_at = $started_at,
                session.ended_at = $ended_at
SET session.channel = $channel,
    session.started_at = CASE WHEN $started_at < session.started_at
                              THEN $started_at ELSE session.started_at END,
    session.ended_at = CASE WHEN $ended_at > session.ended_at
                            THEN $ended_at ELSE session.ended_at END;

MATCH (session:Session {session_key: $session_key})
WHERE session.erased_at IS NULL
RETURN session.session_key AS session_key;

MATCH (session:Session {session_key: $session_key}), (contact:Contact {contact_key: $contact_key})
WHERE NOT EXISTS { MATCH (session)-[:`WITH`]->(contact) }
CREATE (session)-[:`WITH`]->(contact);

UNWIND range(1, size($episode_ids)) AS place
WITH place, $episode_ids[place] AS kept_id
OPTIONAL MATCH (kept:Episode {episode_id: kept_id})
WITH place, kept_id, kept WHERE kept IS NULL
CREATE (episode:Episode {
  episode_id: kept_id, role: $roles[place], text: $texts[place], said_at: $times[place],
  source_kind: $sources[place], position: $positions[place], is_cleaned: false,
  source_reference: CASE WHEN $references[place] = '' THEN NULL ELSE $references[place] END
});

// only when job_id is not empty
UNWIND $episode_ids AS kept_id
MATCH (episode:Episode {episode_id: kept_id})
SET episode.job_id = coalesce(episode.job_id, $job_id);

UNWIND $episode_ids AS kept_id
MATCH (episode:Episode {episode_id: kept_id})
WITH kept_id, episode
MATCH (session:Session {session_key: $session_key})
WHERE NOT EXISTS { MATCH (episode)-[:`IN`]->(session) }
CREATE (episode)-[:`IN`]->(session);

// only when job_id is not empty
UNWIND $episode_ids AS kept_id
MATCH (episode:Episode {episode_id: kept_id})
WITH sum(CASE WHEN episode.job_id = $job_id THEN 1 ELSE 0 END) AS found WHERE found > 0
MERGE (job:Job {job_id: $job_id})
  ON CREATE SET job.name = $session_id, job.tenant = $tenant, job.agent_id = $agent_id,
                job.contact_id = $contact_id, job.session_id = $session_id,
                job.state = 'waiting', job.attempts = 0, job.submitted_at = $at,
                job.due_at = $at;

// only when job_id is not empty
MATCH (job:Job {job_id: $job_id}), (session:Session {session_key: $session_key})
WHERE NOT EXISTS { MATCH (job)-[:READS]->(session) }
CREATE (job)-[:READS]->(session);

UNWIND $episode_ids AS kept_id
MATCH (episode:Episode {episode_id: kept_id})
RETURN count(CASE WHEN episode.job_id = $job_id THEN 1 END) AS new_episodes
