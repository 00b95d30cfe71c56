// Begin to move the store to another model; no row if it moves already, or is bound to that model. A vector's
// length is part of its column's type here, so the column is made for this model.
// mode: write
MATCH (store:Store {store_id: 'reconciler'})
WHERE store.next_embedding_model IS NULL AND store.embedding_model <> $next_model
SET store.next_embedding_model = $next_model, store.next_embedding_dimension = $dimension
RETURN store.embedding_model AS embedding_model;

ALTER TABLE Fact DROP IF EXISTS next_embedding;

ALTER TABLE Fact ADD next_embedding FLOAT[$dimension]
