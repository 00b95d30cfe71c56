// Facts of a contact by their ids, and its version. Another contact's fact gives no row, as if it did not
// exist.
// mode: read
// script for each: fact_id of fact_ids
MATCH (fact:Fact {fact_id: $fact_id})-[:ABOUT]->(contact:Contact {contact_key: $contact_key})
RETURN contact.version AS version,
       // include: fact
