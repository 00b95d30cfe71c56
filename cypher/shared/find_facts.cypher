// Facts of a contact by their ids, and its version; one of anybody else gives no row, as if there
// were none.
// mode: read
// params: contact_key, fact_ids
// script for each: fact_id of fact_ids
// returns: version, columns of fact
MATCH (fact:Fact {fact_id: $fact_id})-[:ABOUT]->(contact:Contact {contact_key: $contact_key})
RETURN contact.version AS version,
       // include: fact
