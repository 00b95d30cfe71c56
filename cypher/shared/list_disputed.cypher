// Which of some contacts have facts that may contradict each other, whatever became of them since,
// and how many links say so.
// mode: read
MATCH (contact:Contact)<-[about:ABOUT]-(new:Fact)-[conflict:CONFLICTS_WITH]->(old:Fact)
WHERE contact.contact_key IN $contact_keys
// embedded: join contact, about, new, conflict, old
RETURN contact.contact_key AS contact_key, count(old) AS links
