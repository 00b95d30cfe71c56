// Take what facts say away; that they were there, when, and how they are linked stays.
// mode: write
UNWIND $fact_ids AS fact_id
MATCH (fact:Fact {fact_id: fact_id})
REMOVE fact:Expired:Archived:Superseded:Revoked
SET fact:Erased, fact.name = '[erased]', fact.state = 'erased', fact.text = '[erased]',
    fact.valid_to = coalesce(fact.valid_to, $at),
    fact.subject = NULL, fact.attribute = NULL, fact.value = NULL, fact.value_key = NULL,
    fact.slot_key = NULL, fact.is_single_valued = NULL, fact.is_known = NULL,
    fact.is_personal = NULL, fact.topic = NULL, fact.tags = NULL, fact.sensitivity = NULL,
    fact.recall_semantics = NULL, fact.yields_to_live_intent = NULL, fact.artefact = NULL,
    fact.embedding = NULL, fact.embedding_bytes = NULL, fact.next_embedding = NULL,
    fact.next_embedding_bytes = NULL
RETURN fact.fact_id AS fact_id
