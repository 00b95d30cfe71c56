// All nodes of a table into a file; the names in braces are filled in from the engine's catalogue.
COPY (MATCH (row:`{table}`) RETURN {columns}) TO '{file}'
