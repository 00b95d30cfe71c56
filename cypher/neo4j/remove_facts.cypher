// Remove the words of facts; their existence, times and links stay.
// mode: write
UNWIND $fact_ids AS fact_id
MATCH (fact:Fact {fact_id: fact_id})
REMOVE fact:Expired:Archived:Superseded:Revoked
SET fact:Erased, fact.name = '[erased]', fact.state = 'erased', fact.text = '[erased]',
    fact.valid_to = coalesce(fact.valid_to, $at),
    // set to null: columns of fact but fields of fact_left
    fact.slot_key = NULL, fact.embedding = NULL, fact.embedding_bytes = NULL,
    fact.next_embedding = NULL, fact.next_embedding_bytes = NULL
RETURN fact.fact_id AS fact_id
