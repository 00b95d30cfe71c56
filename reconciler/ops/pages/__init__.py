"""Pages: stored facts and decisions as HTML documents that a person can read, print and pass on."""
