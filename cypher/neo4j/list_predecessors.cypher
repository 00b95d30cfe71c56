// The predecessors of facts that a note is about to replace: all facts that they replaced.
// vector.similarity.cosine returns (1 + cosine) / 2; the last step restores the raw cosine.
// mode: read
MATCH (store:Store {store_id: 'reconciler'})
UNWIND $fact_ids AS head_id
MATCH (:Fact {fact_id: head_id})-[:SUPERSEDES*0..50]->(after:Fact)-[link:SUPERSEDES]->(fact:Fact)
WHERE fact.state <> 'erased'
WITH head_id, after, link, fact,
     CASE WHEN fact.next_embedding_model = store.embedding_model
          THEN fact.next_embedding ELSE fact.embedding END AS own
RETURN head_id, fact.fact_id AS fact_id, fact.text AS text, fact.subject AS subject,
       fact.attribute AS attribute, fact.value AS value, fact.value_key AS value_key,
       fact.is_single_valued AS is_single_valued, fact.is_known AS is_known,
       fact.is_personal AS is_personal, fact.is_void AS is_void,
       link.decided_by AS decided_by,
       link.is_restatement AS is_restatement,
       after.valid_from AS followed_from,
       2 * vector.similarity.cosine(own, $embedding) - 1 AS cosine
