// All links of a table into a file, the keys of what each joins first.
COPY (MATCH (one:`{from}`)-[row:`{table}`]->(other:`{to}`) RETURN {columns}) TO '{file}' (compression='uncompressed')
