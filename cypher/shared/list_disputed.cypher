// Which of some contacts have facts that may contradict each other, whatever became of them since,
// and how many links say so. In one MATCH on purpose: in two, one engine reads every fact.
// mode: read
MATCH (contact:Contact)<-[:ABOUT]-(new:Fact)-[:CONFLICTS_WITH]->(old:Fact)
WHERE contact.contact_key IN $contact_keys
RETURN contact.contact_key AS contact_key, count(old) AS links
