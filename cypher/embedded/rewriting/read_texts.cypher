// The texts of a table's nodes, from one place to another; SKIP would keep to no order.
MATCH (row:`{table}`)
WHERE offset(id(row)) >= $first AND offset(id(row)) < $after
RETURN {texts}
