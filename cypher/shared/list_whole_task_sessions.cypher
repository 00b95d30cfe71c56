// A page of the stored sessions of some contacts' tasks, for an export, including sessions without a turn.
// mode: read
MATCH (contact:Contact)<-[concerns:CONCERNS]-(task:Task)
      <-[part:PART_OF]-(session:Session)
WHERE contact.contact_key IN $contact_keys
// embedded: join contact, concerns, task, part, session
WITH contact.contact_key AS contact_key, session
WHERE session.session_key > $after
RETURN contact_key, session.session_key AS node_id, session AS node
ORDER BY node_id
LIMIT $limit
