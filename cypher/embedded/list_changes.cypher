// The changes from a place on, in order; those of other agents without their contents. The window comes first:
// a condition on the contact would make the engine read it of every change.
// mode: read
MATCH (change:Decision:Erasure) WHERE change.place >= $first
WITH change
ORDER BY change.place
LIMIT $window
MATCH (change)-[:`FOR`|ERASES]->(contact:Contact)
WITH change, contact, starts_with(contact.contact_key, concat($agent_key, '/')) AS is_own
RETURN change.place AS place, is_own, coalesce(change.decision_id, change.erasure_id) AS decision_id,
       contact.contact_id AS contact_id,
       CASE WHEN change.started_at IS NULL THEN change.action ELSE 'ERASE' END AS action,
       change.decided_by AS decided_by, change.disposal AS disposal,
       coalesce(change.at, change.started_at) AS at, change.fact_id AS fact_id,
       CASE WHEN is_own THEN change.record ELSE NULL END AS record
ORDER BY place
