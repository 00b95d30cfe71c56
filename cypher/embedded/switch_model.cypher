// Bind the store to its next model, in one step; no row if it does not move there, a fact still lacks its
// vector, or a contact is being restored. Each contact's version is raised, so that every process loads it
// again. Columns are renamed, however many facts there are: no vector is touched.
// mode: write
MATCH (store:Store {store_id: 'reconciler'})
WHERE store.embedding_model = $embedding_model AND store.next_embedding_model = $next_model
RETURN store.embedding_model AS embedding_model;

MATCH (fact:Fact)
WHERE fact.embedding_model = $embedding_model AND fact.state <> 'erased'
  AND coalesce(fact.next_embedding_model, '') <> $next_model
WITH count(fact) AS lacking
WHERE lacking = 0
RETURN $embedding_model AS embedding_model;

MATCH (contact:Contact)
WHERE contact.version < 0
WITH count(contact) AS restoring
WHERE restoring = 0
RETURN $embedding_model AS embedding_model;

MATCH (contact:Contact)
SET contact.version = contact.version + 1;

// Facts without a vector, such as raw words, belong to no model before and after.
MATCH (fact:Fact)
WHERE fact.next_embedding_model IS NULL
SET fact.next_embedding_model = fact.embedding_model;

ALTER TABLE Fact DROP embedding;

ALTER TABLE Fact RENAME next_embedding TO embedding;

ALTER TABLE Fact ADD next_embedding FLOAT[1];

ALTER TABLE Fact DROP embedding_bytes;

ALTER TABLE Fact RENAME next_embedding_bytes TO embedding_bytes;

ALTER TABLE Fact ADD next_embedding_bytes BLOB;

ALTER TABLE Fact DROP embedding_model;

ALTER TABLE Fact RENAME next_embedding_model TO embedding_model;

ALTER TABLE Fact ADD next_embedding_model STRING;

MATCH (store:Store {store_id: 'reconciler'})
SET store.embedding_dimension = store.next_embedding_dimension;

MATCH (store:Store {store_id: 'reconciler'})
SET store.embedding_model = $next_model, store.next_embedding_model = NULL,
    store.next_embedding_dimension = NULL
RETURN store.embedding_model AS embedding_model
