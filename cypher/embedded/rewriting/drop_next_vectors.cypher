// Reset the column to that of a new store, for vectors of length 1.
ALTER TABLE Fact DROP next_embedding
