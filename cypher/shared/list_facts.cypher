// All facts of one contact, live and ended, the newest first.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:ABOUT]-(fact:Fact)
RETURN
       // include: fact
ORDER BY recorded_at DESC, fact_id
