// A file into a table of another store.
COPY `{table}` FROM '{file}'
