// Remove a contact's name, but not its id, and the reasons of earlier erasures. It is merged with none any more;
// its forgotten words still count.
// mode: write
MATCH (contact:Contact {contact_key: $contact_key})
SET contact.name = contact.contact_id, contact.absorbed_into = NULL, contact.absorbed = NULL,
    contact.has_forgotten = true
WITH contact
OPTIONAL MATCH (erasure:Erasure {state: 'done'})-[:ERASES]->(contact)
SET erasure.reason = $erased
RETURN DISTINCT contact.contact_key AS contact_key
