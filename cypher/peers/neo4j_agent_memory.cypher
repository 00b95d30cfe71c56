// The records of neo4j-agent-memory: preferences with their user, facts, relationships of entities, and
// messages, which are only counted. A superseded preference ended at that time.
MATCH (preference:Preference)
OPTIONAL MATCH (user:User)-[:HAS_PREFERENCE]->(preference)
RETURN {
  kind: 'preference', id: preference.id, user: user.identifier, subject: user.identifier,
  text: preference.preference + coalesce(' (' + preference.context + ')', ''),
  tag: preference.category, created_at: preference.created_at, valid_from: preference.valid_from,
  valid_until: preference.valid_until
} AS record
UNION ALL
MATCH (fact:Fact) WHERE fact.predicate IS NOT NULL
RETURN {
  kind: 'fact', id: fact.id, user: null, subject: fact.subject,
  text: fact.subject + ' ' + fact.predicate + ' ' + fact.object,
  tag: fact.predicate, created_at: fact.created_at, valid_from: fact.valid_from,
  valid_until: fact.valid_until
} AS record
UNION ALL
MATCH (source:Entity)-[link:RELATED_TO]->(target:Entity)
RETURN {
  kind: 'relationship', id: link.id, user: null, subject: source.name,
  text: link.description, tag: link.type, created_at: link.created_at,
  valid_from: link.valid_from, valid_until: link.valid_until
} AS record
UNION ALL
MATCH (conversation:Conversation)-[:HAS_MESSAGE]->(message:Message)
RETURN {
  kind: 'message', id: message.id, user: conversation.user_identifier, subject: null,
  text: null, tag: null, created_at: message.timestamp, valid_from: null, valid_until: null
} AS record
