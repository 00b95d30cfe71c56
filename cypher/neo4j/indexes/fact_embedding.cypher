// Finds the nearest facts of all contacts. Made by the first query that needs it, because each write
// pays for it: half as much again of a whole write. Without a dimension, so that a store can move to
// another model. No query waits until the server has built it, which takes longer than a query may
// where there are a million facts: until then each fact of the agent is compared.
CREATE VECTOR INDEX fact_embedding IF NOT EXISTS FOR (fact:Fact) ON fact.embedding
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}};
