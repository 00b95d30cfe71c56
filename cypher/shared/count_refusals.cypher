// Count the gate's refusals, by contact and reason.
// mode: read
MATCH (contact:Contact)<-[:`FOR`]-(decision:Decision)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_id AS contact_id, decision
MATCH (decision)
WHERE decision.action = 'REJECT'
RETURN contact_id, decision.gate_reason AS reason, count(decision) AS refusals
ORDER BY contact_id, refusals DESC, reason
