// The facts and decisions without their contact's key. A process of an earlier version that went on
// during the upgrade wrote them: it looks at the schema only when it starts.
// mode: read
MATCH (own:Fact|Decision) WHERE own.contact_key IS NULL
RETURN count(own) AS nodes
