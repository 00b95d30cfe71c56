// How many nodes a table holds.
MATCH (row:`{table}`) RETURN count(*) AS rows
