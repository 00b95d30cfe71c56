// How long the vectors of this store are, which is part of their column's type.
MATCH (store:Store) RETURN store.embedding_dimension AS dimension
