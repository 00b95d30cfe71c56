// Which facts of a contact that have not ended may contradict each other, each pair once, also
// where a person answered that both hold: `decided_by` says so. A lifetime may be over meanwhile.
// The caller looks at both.
// mode: read
MATCH (new:Fact)-[conflict:CONFLICTS_WITH]->(old:Fact)
WHERE conflict.contact_key = $contact_key
  AND new.state IN ['live', 'expired', 'archived'] AND old.state IN ['live', 'expired', 'archived']
RETURN new.fact_id AS new_id, old.fact_id AS old_id, conflict.decided_by AS decided_by, conflict.reason AS reason, conflict.at AS at
