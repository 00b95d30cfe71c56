// A fact of a contact by its id; one of anybody else gives no row, as if there were none.
// mode: read
// params: contact_key, fact_id
// returns: columns of fact
MATCH (fact:Fact {fact_id: $fact_id})-[:ABOUT]->(contact:Contact {contact_key: $contact_key})
RETURN
// include: fact
