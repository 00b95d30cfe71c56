// As list_conflicts, of some contacts, with their ids.
// mode: read
MATCH (contact:Contact)<-[about:ABOUT]-(new:Fact)-[conflict:CONFLICTS_WITH]->(old:Fact)
WHERE contact.contact_key IN $contact_keys
// embedded: join contact, about, new, conflict, old
WITH contact, new, conflict, old
WHERE new.state IN ['live', 'expired', 'archived'] AND old.state IN ['live', 'expired', 'archived']
RETURN contact.contact_id AS contact_id, new.fact_id AS new_id, old.fact_id AS old_id, conflict.decided_by AS decided_by,
       conflict.reason AS reason, conflict.at AS at
