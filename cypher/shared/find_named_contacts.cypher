// An agent's contacts with a word, in small letters, in their id or name. It may be part of a longer word:
// the caller checks for whole words. Without those that were merged into another.
// mode: read
MATCH (agent:Agent {agent_key: $agent_key})-[:KNOWS]->(contact:Contact)
WITH contact
WHERE coalesce(contact.absorbed_into, '') = ''
  AND (toLower(contact.contact_id) CONTAINS $word
       OR toLower(coalesce(contact.name, '')) CONTAINS $word)
RETURN contact.contact_id AS contact_id, contact.name AS name
ORDER BY contact_id
LIMIT $limit
