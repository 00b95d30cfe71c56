// Copy all nodes of a table into a file; the names in braces are filled in from the engine's catalogue. The
// file is not compressed, so that it can be searched for stored texts.
COPY (MATCH (row:`{table}`) RETURN {columns}) TO '{file}' (compression='uncompressed')
