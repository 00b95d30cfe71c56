"""Records as lines, read one by one, so that a damaged record is found."""
