// The column as a new store has it, for vectors of length 1.
ALTER TABLE Fact DROP next_embedding
