// A contact's pairs of facts that have not ended and may contradict each other, each pair once. It includes
// pairs of which a person said that both hold (`decided_by` says so), and facts with a lifetime that is over;
// the caller checks both.
// mode: read
MATCH (new:Fact)-[conflict:CONFLICTS_WITH]->(old:Fact)
WHERE conflict.contact_key = $contact_key
  AND new.state IN $states AND old.state IN $states
RETURN new.fact_id AS new_id, old.fact_id AS old_id, conflict.decided_by AS decided_by, conflict.reason AS reason, conflict.at AS at
