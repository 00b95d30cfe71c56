// The given contacts that have facts that may contradict each other, even if these have ended or were settled
// since, with the number of such links.
// mode: read
MATCH (contact:Contact)<-[about:ABOUT]-(new:Fact)-[conflict:CONFLICTS_WITH]->(old:Fact)
WHERE contact.contact_key IN $contact_keys
// embedded: join contact, about, new, conflict, old
RETURN contact.contact_key AS contact_key, count(old) AS links
