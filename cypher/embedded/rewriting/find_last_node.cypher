// The place of the last node of a table; null where it has none.
MATCH (row:`{table}`) RETURN max(offset(id(row))) AS place
