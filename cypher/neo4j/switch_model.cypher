// Bind the store to its next model, in one step; no row if it does not move there, a fact still lacks its
// vector, or a contact is being restored. Each contact's version is raised, so that every process loads it
// again. The locks come first, the store's and then those of the contacts, in the order of writers: a writer
// has finished by then, or finds another version. The writer of a contact's first fact holds the store's
// lock. Only then are the facts read. The vectors stay where they are, because a transaction with all of them
// could be too large. Until settle_vectors has moved each one, readers take the vector of the store's model.
// mode: write
MATCH (store:Store {store_id: 'reconciler'})
SET store.claimed_at = store.claimed_at
WITH store
WHERE store.embedding_model = $embedding_model AND store.next_embedding_model = $next_model
CALL () {
  MATCH (contact:Contact)
  WITH contact ORDER BY contact.contact_key
  SET contact.locked_by = $next_model
  WITH contact
  WHERE contact.version >= 0
  SET contact.version = contact.version + 1
  RETURN count(contact) AS bumped
}
WITH store, bumped
CALL () {
  MATCH (contact:Contact)
  WHERE contact.version < 0
  RETURN count(contact) AS restoring
}
CALL () {
  MATCH (fact:Fact)
  WHERE fact.embedding_model = $embedding_model AND fact.state <> 'erased'
    AND coalesce(fact.next_embedding_model, '') <> $next_model
  RETURN count(fact) AS lacking
}
WITH store, restoring, lacking
WHERE restoring = 0 AND lacking = 0
SET store.embedding_model = $next_model,
    store.embedding_dimension = store.next_embedding_dimension
RETURN store.embedding_model AS embedding_model
