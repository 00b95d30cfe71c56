// The recalls of each fact of one contact, live and ended, the newest first; a recall moves no version.
// mode: read
// rows: by column
MATCH (contact:Contact {contact_key: $contact_key})<-[:ABOUT]-(fact:Fact)
RETURN fact.fact_id AS fact_id, fact.state AS state, fact.recorded_at AS recorded_at,
       fact.recall_count AS recall_count, fact.last_recalled_at AS last_recalled_at
ORDER BY recorded_at DESC, fact_id
