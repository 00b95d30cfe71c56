// A page of the contacts of the store, of a tenant or of an agent; an empty string means no filter. A contact
// that is being restored is not listed yet. With a contact come those that were merged into it.
// mode: read
MATCH (contact:Contact)
WHERE contact.contact_key > $after AND contact.version >= 0
  AND ($tenant = '' OR contact.tenant = $tenant)
  AND ($agent_id = '' OR contact.agent_id = $agent_id)
  AND ($contact_id = '' OR contact.contact_id = $contact_id
       OR coalesce(contact.absorbed_into, '') = $contact_id)
RETURN contact.contact_key AS contact_key, contact.version AS version
ORDER BY contact_key
LIMIT $limit
