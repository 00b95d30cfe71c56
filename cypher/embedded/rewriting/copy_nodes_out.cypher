// All nodes of a table into a file; the names in braces are filled in from the engine's catalogue.
// Not compressed, so that a text that is kept can be looked for in it.
COPY (MATCH (row:`{table}`) RETURN {columns}) TO '{file}' (compression='uncompressed')
