// Every edge between two entities of Graphiti, in the form of its EntityEdge, without the vector.
MATCH (source:Entity)-[edge:RELATES_TO]->(target:Entity)
RETURN edge {
  .uuid, .group_id, .name, .fact, .created_at, .valid_at, .invalid_at, .expired_at,
  .reference_time, source: source.name, target: target.name
} AS record
