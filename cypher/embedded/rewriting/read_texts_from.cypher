// The texts of a table's links, of those that begin at nodes from one place to another.
MATCH (one:`{from}`)-[row:`{table}`]->(other:`{to}`)
WHERE offset(id(one)) >= $first AND offset(id(one)) < $after
RETURN {texts}
