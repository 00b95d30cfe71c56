// Keep a session's turns, each once, and for a job_id the job that reads the new ones. It is one transaction,
// so a handed-over session is stored whole, with its job. Stored turns stay unchanged, so a second or a
// simultaneous hand-over adds only what is new. A contact that is being erased or was merged into another, or an erased session, takes
// no turn and gives no row.
// mode: write
MERGE (contact:Contact {contact_key: $contact_key})
  ON CREATE SET contact.tenant = $tenant, contact.agent_id = $agent_id,
                contact.contact_id = $contact_id, contact.name = $contact_id,
                contact.version = 0
// The lock comes first, so that this write and the mark of a simultaneous erasure see each other.
SET contact.locked_by = $session_key
WITH contact
WHERE NOT coalesce(contact.is_erasing, false) AND coalesce(contact.absorbed_into, '') = ''
OPTIONAL MATCH (known:Session {session_key: $session_key})
WITH contact, known
WHERE known.erased_at IS NULL
WITH contact
CALL (contact) {
  WITH contact WHERE contact.version = 0
  MERGE (agent:Agent {agent_key: $agent_key})
    ON CREATE SET agent.tenant = $tenant, agent.agent_id = $agent_id, agent.name = $agent_id
  MERGE (agent)-[:KNOWS]->(contact)
}
MERGE (session:Session {session_key: $session_key})
  ON CREATE SET session.session_id = $session_id, session.started_at = $started_at,
                session.ended_at = $ended_at, session.title = $session_id
SET session.channel = $channel,
    session.started_at = CASE WHEN $started_at < session.started_at
                              THEN $started_at ELSE session.started_at END,
    session.ended_at = CASE WHEN $ended_at > session.ended_at
                            THEN $ended_at ELSE session.ended_at END
MERGE (session)-[:`WITH`]->(contact)
WITH session
CALL (session) {
  UNWIND range(0, size($episode_ids) - 1) AS place
  MERGE (episode:Episode {episode_id: $episode_ids[place]})
    ON CREATE SET episode.role = $roles[place], episode.text = $texts[place],
                  episode.said_at = $times[place], episode.source_kind = $sources[place],
                  episode.source_reference = CASE WHEN $references[place] = '' THEN NULL
                                               ELSE $references[place] END,
                  episode.position = $positions[place], episode.is_cleaned = false,
                  episode.title = caption($texts[place])
  SET episode.job_id = coalesce(episode.job_id, $job_id)
  MERGE (episode)-[:`IN`]->(session)
  RETURN sum(CASE WHEN episode.job_id = $job_id THEN 1 ELSE 0 END) AS new_episodes
}
CALL (session, new_episodes) {
  WITH session WHERE new_episodes > 0
  MERGE (job:Job {job_id: $job_id})
    ON CREATE SET job.name = $session_id, job.tenant = $tenant, job.agent_id = $agent_id,
                  job.contact_id = $contact_id, job.session_id = $session_id,
                  job.state = 'waiting', job.attempts = 0, job.submitted_at = $at,
                  job.due_at = $at
  MERGE (job)-[:READS]->(session)
}
RETURN new_episodes
