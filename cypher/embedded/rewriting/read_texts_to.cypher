// The same of those that end there: the engine keeps each link a second time, for this direction.
MATCH (one:`{from}`)-[row:`{table}`]->(other:`{to}`)
WHERE offset(id(other)) >= $first AND offset(id(other)) < $after
RETURN {texts}
