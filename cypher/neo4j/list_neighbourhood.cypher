// The facts of one contact that a note can be compared with, live or expired, with their
// vectors and the version that they were seen at; no row where there is none.
// The version is read before the facts: a write in between then fails the version check.
// mode: read
// params: contact_key, embedding_model
// returns: version, embedding_bytes, embedding, columns of fact
MATCH (contact:Contact {contact_key: $contact_key})
WITH contact, contact.version AS version
MATCH (contact)<-[:ABOUT]-(fact:Fact)
WHERE fact.state IN ['live', 'expired', 'archived'] AND fact.embedding_model = $embedding_model
RETURN version, fact.embedding_bytes AS embedding_bytes,
       CASE WHEN fact.embedding_bytes IS NULL THEN fact.embedding END AS embedding,
       // include: fact
