// Bind the store to the model that it was moving to, in one step; no row where it does not move
// there, a fact still lacks its vector, or a contact is being restored. Each contact's version moves,
// so that what any process keeps of it is loaded again.
// The locks come first, that of the store and then those of the contacts, in the order of writers:
// whoever writes has finished by then, or finds that the contact moved on. Whoever writes about a
// contact of whom nothing is known holds the store's. Only behind them is it looked at what is there.
// The vectors themselves stay where they are: a transaction that held them all could be too large.
// Until settle_vectors has put each in its place, readers take the one that is of the store's model.
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
