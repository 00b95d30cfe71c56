// Write a page of a contact's exported links, all of one type. Each end is found by its index, in its own
// MATCH, and a page is one statement: five times as fast as a statement for each link. The page counts down
// the version of the contact that is being restored; no row means that it was written already, or that this
// contact is not being restored.
// mode: write
MATCH (contact:Contact {contact_key: $contact_key})
WHERE contact.version = $version
SET contact.version = $next_version
RETURN contact.contact_key AS contact_key;

// only when type is WITH
UNWIND $links AS row
WITH row.from_id AS from_id, row.to_id AS to_id
MATCH (one:Session)
WHERE one.session_key = from_id
WITH one, to_id
MATCH (other:Contact)
WHERE other.contact_key = to_id
CREATE (one)-[:`WITH`]->(other);

// only when type is IN
UNWIND $links AS row
WITH row.from_id AS from_id, row.to_id AS to_id
MATCH (one:Episode)
WHERE one.episode_id = from_id
WITH one, to_id
MATCH (other:Session)
WHERE other.session_key = to_id
CREATE (one)-[:`IN`]->(other);

// only when type is READS
UNWIND $links AS row
WITH row.from_id AS from_id, row.to_id AS to_id
MATCH (one:Job)
WHERE one.job_id = from_id
WITH one, to_id
MATCH (other:Session)
WHERE other.session_key = to_id
CREATE (one)-[:READS]->(other);

// only when type is PART_OF
UNWIND $links AS row
WITH row.from_id AS from_id, row.to_id AS to_id
MATCH (one:Session)
WHERE one.session_key = from_id
WITH one, to_id
MATCH (other:Task)
WHERE other.task_key = to_id
CREATE (one)-[:PART_OF]->(other);

// only when type is SUPERSEDES
// for each row of links
MATCH (one:Fact {fact_id: $row.from_id}), (other:Fact {fact_id: $row.to_id})
CREATE (one)-[:SUPERSEDES $row.link]->(other);

// only when type is CONFLICTS_WITH
// for each row of links
MATCH (one:Fact {fact_id: $row.from_id}), (other:Fact {fact_id: $row.to_id})
CREATE (one)-[:CONFLICTS_WITH $row.link]->(other);

// only when type is EVIDENCED_BY
UNWIND $links AS row
WITH row.from_id AS from_id, row.to_id AS to_id, row.link.span AS span
MATCH (one:Fact)
WHERE one.fact_id = from_id
WITH one, to_id, span
MATCH (other:Episode)
WHERE other.episode_id = to_id
CREATE (one)-[:EVIDENCED_BY {span: span}]->(other);

// only when type is JUDGED
UNWIND $links AS row
WITH row.from_id AS from_id, row.to_id AS to_id, row.link.span AS span
MATCH (one:Decision)
WHERE one.decision_id = from_id
WITH one, to_id, span
MATCH (other:Episode)
WHERE other.episode_id = to_id
CREATE (one)-[:JUDGED {span: span}]->(other);

// only when type is WROTE
UNWIND $links AS row
WITH row.from_id AS from_id, row.to_id AS to_id
MATCH (one:Decision)
WHERE one.decision_id = from_id
WITH one, to_id
MATCH (other:Fact)
WHERE other.fact_id = to_id
CREATE (one)-[:WROTE]->(other);

// only when type is COMPARED_WITH
UNWIND $links AS row
WITH row.from_id AS from_id, row.to_id AS to_id, row.link.cosine AS cosine, row.link.rank AS rank
MATCH (one:Decision)
WHERE one.decision_id = from_id
WITH one, to_id, cosine, rank
MATCH (other:Fact)
WHERE other.fact_id = to_id
CREATE (one)-[:COMPARED_WITH {cosine: cosine, rank: rank}]->(other);

// only when type is SETTLES
UNWIND $links AS row
WITH row.from_id AS from_id, row.to_id AS to_id
MATCH (one:Decision)
WHERE one.decision_id = from_id
WITH one, to_id
MATCH (other:Decision)
WHERE other.decision_id = to_id
CREATE (one)-[:SETTLES]->(other);

// only when type is REVOKED
UNWIND $links AS row
WITH row.from_id AS from_id, row.to_id AS to_id
MATCH (one:Decision)
WHERE one.decision_id = from_id
WITH one, to_id
MATCH (other:Fact)
WHERE other.fact_id = to_id
CREATE (one)-[:REVOKED]->(other);

// only when type is REVERTED
UNWIND $links AS row
WITH row.from_id AS from_id, row.to_id AS to_id
MATCH (one:Decision)
WHERE one.decision_id = from_id
WITH one, to_id
MATCH (other:Decision)
WHERE other.decision_id = to_id
CREATE (one)-[:REVERTED]->(other)
