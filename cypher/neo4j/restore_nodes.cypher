// Write a page of a contact's exported nodes, all of one label. The page counts down the version of the
// contact that is being restored; no row means that it was written already, that this contact is not being
// restored, or that the store moved to another model.
// mode: write
MATCH (contact:Contact {contact_key: $contact_key})
SET contact.name = contact.name
WITH contact
MATCH (store:Store {store_id: 'reconciler'})
WHERE contact.version = $version
  AND coalesce(store.embedding_model, $embedding_model, '')
        = coalesce($embedding_model, store.embedding_model, '')
SET contact.version = $next_version
WITH contact
CALL (contact) {
  WITH contact WHERE $label = 'Session'
  UNWIND $nodes AS row
  CREATE (session:Session)
  SET session = row.node, session.title = row.node.session_id
}
CALL (contact) {
  WITH contact WHERE $label = 'Episode'
  UNWIND $nodes AS row
  CREATE (episode:Episode)
  SET episode = row.node,
      episode.title = caption(row.node.text)
}
CALL (contact) {
  WITH contact WHERE $label = 'Fact'
  UNWIND $nodes AS row
  CREATE (fact:Fact)-[:ABOUT]->(contact)
  SET fact = row.node, fact.contact_key = contact.contact_key,
      fact.name = caption(row.node.text),
      fact:$(CASE row.node.state WHEN 'live' THEN [] ELSE [toUpper(left(row.node.state, 1)) + substring(row.node.state, 1)] END)
  WITH fact, row WHERE row.embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(fact, 'embedding', row.embedding)
}
CALL (contact) {
  WITH contact WHERE $label = 'Decision'
  UNWIND $nodes AS row
  CREATE (decision:Decision)-[:`FOR`]->(contact)
  SET decision = row.node, decision.contact_key = contact.contact_key, decision.unplaced = true,
      decision.title = row.node.action + ' by ' + row.node.decided_by + coalesce(' ' + toString(round(row.node.cosine, 2)), '')
}
CALL (contact) {
  WITH contact WHERE $label = 'Job'
  UNWIND $nodes AS row
  CREATE (job:Job)
  SET job = row.node
}
CALL (contact) {
  WITH contact WHERE $label = 'Task'
  UNWIND $nodes AS row
  CREATE (task:Task)-[:CONCERNS]->(contact)
  SET task = row.node
}
CALL (contact) {
  WITH contact WHERE $label = 'Erasure'
  UNWIND $nodes AS row
  CREATE (erasure:Erasure)-[:ERASES]->(contact)
  SET erasure = row.node, erasure.unplaced = true
}
CALL (contact) {
  WITH contact WHERE $label = 'Tombstone'
  UNWIND $nodes AS row
  CREATE (tombstone:Tombstone)
  SET tombstone = row.node
}
RETURN contact.contact_key AS contact_key
