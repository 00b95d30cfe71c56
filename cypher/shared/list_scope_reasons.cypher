// Why facts of a contact stand beside each other, whether they have ended or not.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:ABOUT]-(new:Fact)
MATCH (new)-[conflict:CONFLICTS_WITH]->(old:Fact)
RETURN new.fact_id AS new_id, old.fact_id AS old_id, conflict.reason AS reason
