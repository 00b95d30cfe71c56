// Contacts by their keys, with the counts and times that each keeps.
// mode: read
MATCH (contact:Contact)
WHERE contact.contact_key IN $contact_keys
RETURN contact.tenant AS tenant, contact.agent_id AS agent_id, contact.contact_id AS contact_id,
       contact.name AS name, contact.last_decision_at AS last_decision_at,
       coalesce(contact.recalls, 0) AS recalls, coalesce(contact.empty_recalls, 0) AS empty_recalls
