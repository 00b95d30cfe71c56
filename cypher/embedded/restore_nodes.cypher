// Write a page of a contact's exported nodes, all of one label. The page counts down the version of the
// contact that is being restored; no row means that it was written already, that this contact is not being
// restored, or that the store moved to another model.
// mode: write
MATCH (contact:Contact {contact_key: $contact_key}), (store:Store {store_id: 'reconciler'})
WHERE contact.version = $version
  AND coalesce(store.embedding_model, $embedding_model, '')
        = coalesce($embedding_model, store.embedding_model, '')
SET contact.version = $next_version
RETURN contact.contact_key AS contact_key;

// only when label is Session
// for each row of nodes
CREATE (session:Session $row.node);

// only when label is Episode
// for each row of nodes
CREATE (episode:Episode $row.node);

// only when label is Fact
// for each row of nodes
MATCH (contact:Contact {contact_key: $contact_key})
CREATE (fact:Fact {embedding: $row.embedding, $row.node})-[:ABOUT]->(contact);

// only when label is Decision
// for each row of nodes
MATCH (contact:Contact {contact_key: $contact_key})
CREATE (decision:Decision $row.node)-[:`FOR`]->(contact);

// only when label is Job
// for each row of nodes
CREATE (job:Job $row.node);

// only when label is Task
// for each row of nodes
MATCH (contact:Contact {contact_key: $contact_key})
CREATE (task:Task $row.node)-[:CONCERNS]->(contact);

// only when label is Erasure
// for each row of nodes
MATCH (contact:Contact {contact_key: $contact_key})
CREATE (erasure:Erasure $row.node)-[:ERASES]->(contact);

// only when label is Tombstone
// for each row of nodes
CREATE (tombstone:Tombstone $row.node)
