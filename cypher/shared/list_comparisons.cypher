// The neighbours that decisions looked at.
// mode: read
// params: decision_ids
// returns: decision_id, fact_id, cosine, rank, text
UNWIND $decision_ids AS wanted_id
MATCH (decision:Decision {decision_id: wanted_id})-[compared:COMPARED_WITH]->(fact:Fact)
RETURN decision.decision_id AS decision_id, fact.fact_id AS fact_id, compared.cosine AS cosine,
       compared.rank AS rank, fact.text AS text
ORDER BY decision_id, rank
