// Add the column for the next model's vectors, with their type.
ALTER TABLE Fact ADD next_embedding {type}
