// How often the gate refused something, by contact and reason.
// mode: read
// params: contact_keys
// returns: contact_id, gate_reason, refusals
UNWIND $contact_keys AS wanted_key
MATCH (contact:Contact {contact_key: wanted_key})<-[:`FOR`]-(decision:Decision)
WHERE decision.action = 'REJECT'
RETURN contact.contact_id AS contact_id, decision.gate_reason AS gate_reason,
       count(decision) AS refusals
ORDER BY contact_id, refusals DESC, gate_reason
