// Remove a contact's name, but not its id, and the reasons of earlier erasures if the whole contact goes. What was merged
// stays so: the words that were forgotten under any of its ids count for all of them.
// mode: write
MATCH (contact:Contact {contact_key: $contact_key})
SET contact.name = contact.contact_id, contact.has_forgotten = true
WITH contact
OPTIONAL MATCH (erasure:Erasure {state: 'done'})-[:ERASES]->(contact)
WHERE $is_whole
SET erasure.reason = $erased
RETURN DISTINCT contact.contact_key AS contact_key
