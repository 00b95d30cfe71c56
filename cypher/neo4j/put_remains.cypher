// Replace unreadable records by readable ones without words. Their links stay.
// mode: write
UNWIND $rows AS row
CALL (row) {
  WITH row WHERE $label = 'Task'
  MATCH (task:Task {task_key: row.node_id})
  SET task = row.node, task.task_key = row.node_id
}
CALL (row) {
  WITH row WHERE $label = 'Session'
  MATCH (session:Session {session_key: row.node_id})
  SET session = row.node, session.session_key = row.node_id, session.title = row.node.session_id
}
CALL (row) {
  WITH row WHERE $label = 'Episode'
  MATCH (episode:Episode {episode_id: row.node_id})
  SET episode = row.node, episode.episode_id = row.node_id, episode.title = caption(row.node.text)
}
CALL (row) {
  WITH row WHERE $label = 'Job'
  MATCH (job:Job {job_id: row.node_id})
  SET job = row.node, job.job_id = row.node_id
}
CALL (row) {
  WITH row WHERE $label = 'Fact'
  MATCH (fact:Fact {fact_id: row.node_id})-[:ABOUT]->(contact:Contact)
  SET fact = row.node, fact.fact_id = row.node_id, fact.contact_key = contact.contact_key,
      fact.name = caption(row.node.text)
}
CALL (row) {
  WITH row WHERE $label = 'Decision'
  MATCH (decision:Decision {decision_id: row.node_id})-[:`FOR`]->(contact:Contact)
  WITH row, decision, contact, properties(decision) AS before
  SET decision = row.node, decision.place = before.place, decision.agent_key = before.agent_key,
      decision.unplaced = before.unplaced, decision.decision_id = row.node_id,
      decision.contact_key = contact.contact_key,
      decision.title = row.node.action + ' by ' + row.node.decided_by
}
CALL (row) {
  WITH row WHERE $label = 'Erasure'
  MATCH (erasure:Erasure {erasure_id: row.node_id})
  WITH row, erasure, properties(erasure) AS before
  SET erasure = row.node, erasure.place = before.place, erasure.agent_key = before.agent_key,
      erasure.unplaced = before.unplaced, erasure.erasure_id = row.node_id
}
CALL (row) {
  WITH row WHERE $label = 'Tombstone'
  MATCH (tombstone:Tombstone {tombstone_key: row.node_id})
  SET tombstone = row.node, tombstone.tombstone_key = row.node_id
}
RETURN row.node_id AS node_id
