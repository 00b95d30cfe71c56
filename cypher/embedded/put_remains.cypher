// Replace unreadable records by readable ones without words. Their links stay.
// mode: write
// only when label is Task
// for each row of rows
MATCH (task:Task {task_key: $row.node_id})
SET task.done = NULL, task.decided = NULL, task.blocker = NULL, task.outcome_id = NULL;

// only when label is Task
// for each row of rows
MATCH (task:Task {task_key: $row.node_id})
SET task += $row.node
RETURN task.task_key AS node_id;

// only when label is Session
// for each row of rows
MATCH (session:Session {session_key: $row.node_id})
SET session.summary = NULL;

// only when label is Session
// for each row of rows
MATCH (session:Session {session_key: $row.node_id})
SET session += $row.node
RETURN session.session_key AS node_id;

// only when label is Episode
// for each row of rows
MATCH (episode:Episode {episode_id: $row.node_id})
SET episode.source_reference = NULL;

// only when label is Episode
// for each row of rows
MATCH (episode:Episode {episode_id: $row.node_id})
SET episode += $row.node
RETURN episode.episode_id AS node_id;

// only when label is Job
// for each row of rows
MATCH (job:Job {job_id: $row.node_id})
SET job.extractor = NULL, job.last_error = NULL, job.proposals = NULL, job.summary = NULL,
    job.leased_by = NULL;

// only when label is Job
// for each row of rows
MATCH (job:Job {job_id: $row.node_id})
SET job += $row.node
RETURN job.job_id AS node_id;

// only when label is Fact
// for each row of rows
MATCH (fact:Fact {fact_id: $row.node_id})
SET fact.expires_at = NULL, fact.first_held_from = NULL, fact.last_recalled_at = NULL,
    // set to null: columns of fact but fields of fact_left
    fact.slot_key = NULL, fact.embedding = NULL, fact.embedding_bytes = NULL,
    fact.next_embedding = NULL, fact.next_embedding_bytes = NULL;

// only when label is Fact
// for each row of rows
MATCH (fact:Fact {fact_id: $row.node_id})
SET fact += $row.node
RETURN fact.fact_id AS node_id;

// only when label is Decision
// for each row of rows
MATCH (decision:Decision {decision_id: $row.node_id})
SET decision.arbiter_reasoning = NULL, decision.inference_key = NULL, decision.lapses_at = NULL,
    decision.disposal = NULL, decision.gate_reason = NULL, decision.correction = NULL,
    decision.corrected_at = NULL, decision.cosine = NULL, decision.session_id = NULL,
    decision.settles_id = NULL, decision.held_id = NULL, decision.proposed_by = NULL,
    decision.answered_by = NULL;

// only when label is Decision
// for each row of rows
MATCH (decision:Decision {decision_id: $row.node_id})
SET decision += $row.node
RETURN decision.decision_id AS node_id;

// only when label is Erasure
// for each row of rows
MATCH (erasure:Erasure {erasure_id: $row.node_id})
SET erasure.plan = NULL, erasure.receipt = NULL;

// only when label is Erasure
// for each row of rows
MATCH (erasure:Erasure {erasure_id: $row.node_id})
SET erasure += $row.node
RETURN erasure.erasure_id AS node_id;

// only when label is Tombstone
// for each row of rows
MATCH (tombstone:Tombstone {tombstone_key: $row.node_id})
SET tombstone += $row.node
RETURN tombstone.tombstone_key AS node_id
