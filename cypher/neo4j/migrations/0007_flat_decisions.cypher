// Decisions that were kept in columns stay as they are: a property that a node lacks costs nothing
// here. On the embedded engine they move to a table of their own.
RETURN 1 AS nothing_to_do;
