// The facts of one contact that a note can be compared with, live or expired, with their vectors and the
// contact's version and name; no row if there is none. Soon after the store moved to another model, a vector may still
// be stored as the next model's. The version is read before the facts: a write in between then fails the
// version check. All properties are read at once, since each one that is read by its name passes those before it.
// mode: read
// rows: by column
MATCH (contact:Contact {contact_key: $contact_key})
WITH contact, contact.version AS version
MATCH (contact)<-[:ABOUT]-(fact:Fact)
WHERE fact.state IN $states
  AND (fact.embedding_model = $embedding_model OR fact.next_embedding_model = $embedding_model)
WITH version, contact, properties(fact) AS fact, fact.embedding_model = $embedding_model AS is_settled
RETURN version, contact.name AS contact_name,
       CASE WHEN is_settled THEN fact.embedding_bytes ELSE fact.next_embedding_bytes END
         AS embedding_bytes,
       // include: fact
