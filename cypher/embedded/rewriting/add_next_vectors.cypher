// The column of the vectors of the model that the store moves to, which are of this type.
ALTER TABLE Fact ADD next_embedding {type}
