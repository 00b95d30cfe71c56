// The texts of some contacts' facts that were said after a time, and how each is filed: what they
// answer is looked for among them. What was revoked answers nothing. Where a question takes a yes, plain words do
// not answer it, so only what has a slot or was kept by a yes is read.
// mode: read
// rows: by column
MATCH (contact:Contact)<-[:ABOUT]-(fact:Fact)
WHERE contact.contact_key IN $contact_keys
WITH contact.contact_key AS contact_key, fact
MATCH (fact)
WHERE fact.last_confirmed_at > $since AND fact.state <> 'revoked'
  AND ($is_plain OR fact.is_confirmed_by_user OR fact.subject IS NOT NULL)
RETURN contact_key, fact.fact_id AS fact_id, fact.text AS text, fact.slot_key AS slot_key
