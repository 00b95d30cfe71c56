// A decision's record in one column; older ones keep theirs in columns of their own. Vectors as
// bytes, which are read in a fraction of the time.
ALTER TABLE Decision ADD IF NOT EXISTS record STRING;
ALTER TABLE Fact ADD IF NOT EXISTS embedding_bytes BLOB;
