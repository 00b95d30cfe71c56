"""Pages: what is kept, as HTML documents that a person can read, print and pass on."""
