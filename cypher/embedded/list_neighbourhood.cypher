// The facts of one contact that a note can be compared with, live or expired, with their vectors and the
// contact's version and name; no row if there is none. The second MATCH keeps the planner on the contact's own facts:
// with the filter in the first one it scans every fact of the store (228 ms instead of 3 at 100,000 facts of
// others). States and model are given so because a process's first list of literals, and its first AND, take the
// engine 5 ms to parse.
// mode: read
// rows: by column
MATCH (contact:Contact {contact_key: $contact_key})<-[:ABOUT]-(fact:Fact)
WITH contact.version AS version, contact.name AS contact_name, fact
MATCH (fact {embedding_model: $embedding_model})
WHERE fact.state IN $states
RETURN version, contact_name, fact.embedding_bytes AS embedding_bytes,
       // include: fact
