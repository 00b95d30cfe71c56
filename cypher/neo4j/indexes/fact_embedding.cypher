// Finds the nearest facts of all contacts. The first query that needs it creates it, because it makes each
// write half as expensive again. It has no dimension, so that a store can move to another model. No query
// waits for the server to build it: for a million facts that takes longer than a query may. Until then each
// fact of the agent is compared.
CREATE VECTOR INDEX fact_embedding IF NOT EXISTS FOR (fact:Fact) ON fact.embedding
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}};
