// Erasures about some contacts, or about all contacts for an empty list; all of them, or only unfinished
// ones.
// mode: read
MATCH (erasure:Erasure)-[:ERASES]->(contact:Contact)
WHERE (size($contact_keys) = 0 OR erasure.contact_key IN $contact_keys)
  AND NOT ($is_unfinished AND erasure.state = 'done')
RETURN erasure.erasure_id AS erasure_id, contact.tenant AS tenant, contact.agent_id AS agent_id,
       contact.contact_id AS contact_id, erasure.target_kind AS target_kind,
       erasure.target AS target, erasure.state AS state, erasure.`by` AS asked_by,
       erasure.reason AS reason, erasure.started_at AS started_at,
       erasure.finished_at AS finished_at, erasure.plan AS plan, erasure.receipt AS receipt
ORDER BY started_at
