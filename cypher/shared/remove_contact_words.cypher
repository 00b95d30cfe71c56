// Take away a contact's name, whose id stays, and why parts of it were forgotten earlier.
// mode: write
MATCH (contact:Contact {contact_key: $contact_key})
SET contact.name = contact.contact_id
WITH contact
OPTIONAL MATCH (erasure:Erasure {state: 'done'})-[:ERASES]->(contact)
SET erasure.reason = $erased
RETURN DISTINCT contact.contact_key AS contact_key
