// How many links a table holds.
MATCH (one:`{from}`)-[row:`{table}`]->(other:`{to}`) RETURN count(*) AS rows
