// The changes from a place on, in order. All of them are the agent's own: the index begins with its key.
// mode: read
CALL () {
  MATCH (change:Decision) WHERE change.agent_key = $agent_key AND change.place >= $first
  WITH change ORDER BY change.agent_key, change.place LIMIT $window
  MATCH (change)-[:`FOR`]->(contact:Contact)
  RETURN change.place AS place, change.decision_id AS decision_id, contact.contact_id AS contact_id,
         change.action AS action, change.at AS at, change
  UNION ALL
  MATCH (change:Erasure) WHERE change.agent_key = $agent_key AND change.place >= $first
  WITH change ORDER BY change.agent_key, change.place LIMIT $window
  MATCH (change)-[:ERASES]->(contact:Contact)
  RETURN change.place AS place, change.erasure_id AS decision_id, contact.contact_id AS contact_id,
         'ERASE' AS action, change.started_at AS at, change
}
RETURN place, true AS is_own, decision_id, contact_id, action, change.decided_by AS decided_by,
       change.disposal AS disposal, at, change.fact_id AS fact_id, change.record AS record
ORDER BY place
LIMIT $window
