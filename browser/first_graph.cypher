// What the Browser shows when somebody has logged in: chains of facts, of whichever contact.
MATCH path = (:Contact)<-[:ABOUT]-(:Fact)-[:SUPERSEDES]->(:Fact)
RETURN path
LIMIT 40
