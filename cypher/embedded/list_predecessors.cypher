// The predecessors of facts that a note is about to replace: all facts that they replaced. The path tells the
// successor of each, so that no other fact is read.
// mode: read
// script for each: head_id of fact_ids
MATCH (head:Fact {fact_id: $head_id})-[links:SUPERSEDES*1..30]->(fact:Fact)
WITH fact, size(rels(links)) AS depth,
     list_concat([head.valid_from], properties(nodes(links), 'valid_from')) AS followed,
     properties(rels(links), 'decided_by') AS deciders,
     properties(rels(links), 'is_restatement') AS restatements
MATCH (fact)
WHERE fact.state <> 'erased'
RETURN $head_id AS head_id, fact.fact_id AS fact_id, fact.text AS text, fact.subject AS subject,
       fact.attribute AS attribute, fact.value AS value, fact.value_key AS value_key,
       fact.is_single_valued AS is_single_valued, fact.is_known AS is_known,
       fact.is_personal AS is_personal, fact.is_void AS is_void,
       deciders[depth] AS decided_by,
       restatements[depth] AS is_restatement,
       followed[depth] AS followed_from,
       array_cosine_similarity(fact.embedding, $embedding) AS cosine
