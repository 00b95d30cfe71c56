// The neighbours that all decisions about a contact looked at; in no order. Looking up each decision, as
// `list_comparisons` does, takes twenty times as long.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[:`FOR`]-(decision:Decision)
MATCH (decision)-[compared:COMPARED_WITH]->(fact:Fact)
RETURN
       // include: comparison
