// The facts and decisions without their contact's key, and the decisions and erasures that have no place in the
// order of changes and no mark to get one. A process of an earlier version that went on during the upgrade
// wrote them: it looks at the schema only when it starts.
// mode: read
MATCH (own:Fact|Decision|Erasure)
WHERE (own.contact_key IS NULL AND NOT own:Erasure)
   OR (own.place IS NULL AND own.unplaced IS NULL AND NOT own:Fact)
RETURN count(own) AS nodes
