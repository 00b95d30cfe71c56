"""Records as lines, read one by one, so that a damaged one is found."""
