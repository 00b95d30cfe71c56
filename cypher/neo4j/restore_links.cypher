// Write a page of a contact's exported links, all of one type. The page counts down the version of the
// contact that is being restored; no row means that it was written already, or that this contact is not being
// restored.
// mode: write
MATCH (contact:Contact {contact_key: $contact_key})
SET contact.name = contact.name
WITH contact
WHERE contact.version = $version
SET contact.version = $next_version
WITH contact
CALL (contact) {
  WITH contact WHERE $type = 'WITH'
  UNWIND $links AS row
  MATCH (one:Session {session_key: row.from_id})
  MATCH (other:Contact {contact_key: row.to_id})
  CREATE (one)-[link:`WITH`]->(other)
  SET link = row.link
}
CALL (contact) {
  WITH contact WHERE $type = 'IN'
  UNWIND $links AS row
  MATCH (one:Episode {episode_id: row.from_id})
  MATCH (other:Session {session_key: row.to_id})
  CREATE (one)-[link:`IN`]->(other)
  SET link = row.link
}
CALL (contact) {
  WITH contact WHERE $type = 'READS'
  UNWIND $links AS row
  MATCH (one:Job {job_id: row.from_id})
  MATCH (other:Session {session_key: row.to_id})
  CREATE (one)-[link:READS]->(other)
  SET link = row.link
}
CALL (contact) {
  WITH contact WHERE $type = 'PART_OF'
  UNWIND $links AS row
  MATCH (one:Session {session_key: row.from_id})
  MATCH (other:Task {task_key: row.to_id})
  CREATE (one)-[link:PART_OF]->(other)
  SET link = row.link
}
CALL (contact) {
  WITH contact WHERE $type = 'SUPERSEDES'
  UNWIND $links AS row
  MATCH (one:Fact {fact_id: row.from_id})
  MATCH (other:Fact {fact_id: row.to_id})
  CREATE (one)-[link:SUPERSEDES]->(other)
  SET link = row.link, link.contact_key = $contact_key
}
CALL (contact) {
  WITH contact WHERE $type = 'CONFLICTS_WITH'
  UNWIND $links AS row
  MATCH (one:Fact {fact_id: row.from_id})
  MATCH (other:Fact {fact_id: row.to_id})
  CREATE (one)-[link:CONFLICTS_WITH]->(other)
  SET link = row.link, link.contact_key = $contact_key
}
CALL (contact) {
  WITH contact WHERE $type = 'EVIDENCED_BY'
  UNWIND $links AS row
  MATCH (one:Fact {fact_id: row.from_id})
  MATCH (other:Episode {episode_id: row.to_id})
  CREATE (one)-[link:EVIDENCED_BY]->(other)
  SET link = row.link
}
CALL (contact) {
  WITH contact WHERE $type = 'JUDGED'
  UNWIND $links AS row
  MATCH (one:Decision {decision_id: row.from_id})
  MATCH (other:Episode {episode_id: row.to_id})
  CREATE (one)-[link:JUDGED]->(other)
  SET link = row.link
}
CALL (contact) {
  WITH contact WHERE $type = 'WROTE'
  UNWIND $links AS row
  MATCH (one:Decision {decision_id: row.from_id})
  MATCH (other:Fact {fact_id: row.to_id})
  CREATE (one)-[link:WROTE]->(other)
  SET link = row.link
}
CALL (contact) {
  WITH contact WHERE $type = 'COMPARED_WITH'
  UNWIND $links AS row
  MATCH (one:Decision {decision_id: row.from_id})
  MATCH (other:Fact {fact_id: row.to_id})
  CREATE (one)-[link:COMPARED_WITH]->(other)
  SET link = row.link, link.title = toString(round(row.link.cosine, 4))
}
CALL (contact) {
  WITH contact WHERE $type = 'SETTLES'
  UNWIND $links AS row
  MATCH (one:Decision {decision_id: row.from_id})
  MATCH (other:Decision {decision_id: row.to_id})
  CREATE (one)-[link:SETTLES]->(other)
  SET link = row.link
}
CALL (contact) {
  WITH contact WHERE $type = 'REVOKED'
  UNWIND $links AS row
  MATCH (one:Decision {decision_id: row.from_id})
  MATCH (other:Fact {fact_id: row.to_id})
  CREATE (one)-[link:REVOKED]->(other)
  SET link = row.link
}
CALL (contact) {
  WITH contact WHERE $type = 'REVERTED'
  UNWIND $links AS row
  MATCH (one:Decision {decision_id: row.from_id})
  MATCH (other:Decision {decision_id: row.to_id})
  CREATE (one)-[link:REVERTED]->(other)
  SET link = row.link
}
RETURN contact.contact_key AS contact_key
