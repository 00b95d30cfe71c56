// Copy all links of a table into a file, the keys of the joined nodes first.
COPY (MATCH (one:`{from}`)-[row:`{table}`]->(other:`{to}`) RETURN {columns}) TO '{file}' (compression='uncompressed')
