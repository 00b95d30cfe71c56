// How many rows a table holds.
MATCH {pattern} RETURN count(*) AS rows
