// What was decided about some contacts, counted by action, and apart what somebody answered a
// question with: the commit of a proposal settles it, too, and nobody was asked.
// mode: read
MATCH (contact:Contact)<-[:`FOR`]-(decision:Decision)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_key AS contact_key, decision
RETURN contact_key, decision.action AS action,
       decision.settles_id IS NOT NULL AND decision.answered_by IS NOT NULL AS is_answer,
       count(decision) AS decisions
