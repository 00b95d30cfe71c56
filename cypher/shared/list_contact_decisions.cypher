// The records of all decisions about a contact, in no order. Looking up each one, as `find_decisions` does,
// takes twenty times as long.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`FOR`]-(decision:Decision)
RETURN decision.decision_id AS decision_id, decision.record AS record,
       decision.correction AS correction, decision.at AS at
