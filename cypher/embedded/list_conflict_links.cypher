// All pairs that were ever kept side by side as a possible contradiction, even if a fact has ended since.
// They show the disputes at an instant, and the words that an erasure looks for.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[about:ABOUT]-(new:Fact)
      -[conflict:CONFLICTS_WITH]->(old:Fact)
// embedded: join contact, about, new, conflict, old
RETURN new.fact_id AS new_id, old.fact_id AS old_id, conflict.decided_by AS decided_by,
       conflict.reason AS reason, conflict.at AS at
