// Facts of a contact by their ids, and its version; one of anybody else gives no row, as if there
// were none.
// mode: read
// script for each: fact_id of fact_ids
MATCH (fact:Fact {fact_id: $fact_id})-[:ABOUT]->(contact:Contact {contact_key: $contact_key})
RETURN contact.version AS version,
       // include: fact
