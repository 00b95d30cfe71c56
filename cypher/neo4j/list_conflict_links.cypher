// All that was ever kept side by side because it may contradict each other, also of facts that have
// ended since: for what was in dispute at an instant, and for the words that an erasure looks for.
// mode: read
MATCH (new:Fact)-[conflict:CONFLICTS_WITH]->(old:Fact)
WHERE conflict.contact_key = $contact_key
RETURN new.fact_id AS new_id, old.fact_id AS old_id, conflict.decided_by AS decided_by,
       conflict.reason AS reason, conflict.at AS at
