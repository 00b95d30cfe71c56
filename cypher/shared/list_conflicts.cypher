// Which facts of a contact that have not ended may contradict each other, each pair once, until
// somebody answers that both hold. A lifetime may be over meanwhile; whoever reads this looks.
// mode: read
// params: contact_key
// returns: new_id, old_id, reason, at
MATCH (contact:Contact {contact_key: $contact_key})<-[:ABOUT]-(new:Fact)
MATCH (new)-[conflict:CONFLICTS_WITH]->(old:Fact)
WHERE new.state IN ['live', 'expired'] AND old.state IN ['live', 'expired']
  AND conflict.decided_by <> 'answer'
RETURN new.fact_id AS new_id, old.fact_id AS old_id, conflict.reason AS reason, conflict.at AS at
