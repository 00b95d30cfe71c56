// Copy a file into a table of another store.
COPY `{table}` FROM '{file}'
