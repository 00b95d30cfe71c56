// Why facts of a contact stand beside each other, whether they have ended or not.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[about:ABOUT]-(new:Fact)
      -[conflict:CONFLICTS_WITH]->(old:Fact)
// embedded: join contact, about, new, conflict, old
RETURN new.fact_id AS new_id, old.fact_id AS old_id, conflict.reason AS reason
