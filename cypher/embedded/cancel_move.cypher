// Cancel a move: the store stays with the model that it is bound to. No row if it does not move. Dropping the
// columns removes the new vectors.
// mode: write
MATCH (store:Store {store_id: 'reconciler'})
WHERE store.next_embedding_model <> store.embedding_model
SET store.next_embedding_model = NULL, store.next_embedding_dimension = NULL
RETURN store.embedding_model AS embedding_model;

ALTER TABLE Fact DROP next_embedding;

ALTER TABLE Fact ADD next_embedding FLOAT[1];

ALTER TABLE Fact DROP next_embedding_bytes;

ALTER TABLE Fact ADD next_embedding_bytes BLOB;

ALTER TABLE Fact DROP next_embedding_model;

ALTER TABLE Fact ADD next_embedding_model STRING
