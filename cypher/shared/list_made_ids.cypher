// All decisions about a contact that changed facts, in no order; those that the gate stopped or held are left
// out, and so are records of answers.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`FOR`]-(decision:Decision)
WITH decision
MATCH (decision)
WHERE NOT decision.action IN ['ADMIT', 'HOLD', 'REJECT', 'DECLINE', 'WITHDRAW', 'CITE']
RETURN decision.decision_id AS decision_id
