// Count the decisions about some contacts by action. A person's answers to questions are counted apart: the
// commit of a proposal settles it, too, but answers no question.
// mode: read
MATCH (contact:Contact)<-[:`FOR`]-(decision:Decision)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_key AS contact_key, decision
RETURN contact_key, decision.action AS action,
       decision.settles_id IS NOT NULL AND decision.answered_by IS NOT NULL AS is_answer,
       count(decision) AS decisions
