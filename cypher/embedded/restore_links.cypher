// Write a page of the links between what belongs to a contact, as they were exported: of one type.
// The page counts down the version of the contact that is being restored; no row means that it was
// written already, or that nobody restores this contact.
// mode: write
// params: contact_key, version, next_version, type, links
// map links: from_id, to_id, link
// map links.link: any
// returns: contact_key
MATCH (contact:Contact {contact_key: $contact_key})
WHERE contact.version = $version
SET contact.version = $next_version
RETURN contact.contact_key AS contact_key;

// only when type is WITH
// for each row of links
MATCH (one:Session {session_key: $row.from_id}), (other:Contact {contact_key: $row.to_id})
CREATE (one)-[:`WITH` $row.link]->(other);

// only when type is IN
// for each row of links
MATCH (one:Episode {episode_id: $row.from_id}), (other:Session {session_key: $row.to_id})
CREATE (one)-[:`IN` $row.link]->(other);

// only when type is READS
// for each row of links
MATCH (one:Job {job_id: $row.from_id}), (other:Session {session_key: $row.to_id})
CREATE (one)-[:READS $row.link]->(other);

// only when type is PART_OF
// for each row of links
MATCH (one:Session {session_key: $row.from_id}), (other:Task {task_key: $row.to_id})
CREATE (one)-[:PART_OF $row.link]->(other);

// only when type is SUPERSEDES
// for each row of links
MATCH (one:Fact {fact_id: $row.from_id}), (other:Fact {fact_id: $row.to_id})
CREATE (one)-[:SUPERSEDES $row.link]->(other);

// only when type is CONFLICTS_WITH
// for each row of links
MATCH (one:Fact {fact_id: $row.from_id}), (other:Fact {fact_id: $row.to_id})
CREATE (one)-[:CONFLICTS_WITH $row.link]->(other);

// only when type is EVIDENCED_BY
// for each row of links
MATCH (one:Fact {fact_id: $row.from_id}), (other:Episode {episode_id: $row.to_id})
CREATE (one)-[:EVIDENCED_BY $row.link]->(other);

// only when type is JUDGED
// for each row of links
MATCH (one:Decision {decision_id: $row.from_id}), (other:Episode {episode_id: $row.to_id})
CREATE (one)-[:JUDGED $row.link]->(other);

// only when type is WROTE
// for each row of links
MATCH (one:Decision {decision_id: $row.from_id}), (other:Fact {fact_id: $row.to_id})
CREATE (one)-[:WROTE $row.link]->(other);

// only when type is COMPARED_WITH
// for each row of links
MATCH (one:Decision {decision_id: $row.from_id}), (other:Fact {fact_id: $row.to_id})
CREATE (one)-[:COMPARED_WITH $row.link]->(other);

// only when type is SETTLES
// for each row of links
MATCH (one:Decision {decision_id: $row.from_id}), (other:Decision {decision_id: $row.to_id})
CREATE (one)-[:SETTLES $row.link]->(other);

// only when type is REVOKED
// for each row of links
MATCH (one:Decision {decision_id: $row.from_id}), (other:Fact {fact_id: $row.to_id})
CREATE (one)-[:REVOKED $row.link]->(other);

// only when type is REVERTED
// for each row of links
MATCH (one:Decision {decision_id: $row.from_id}), (other:Decision {decision_id: $row.to_id})
CREATE (one)-[:REVERTED $row.link]->(other)
