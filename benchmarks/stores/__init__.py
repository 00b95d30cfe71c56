"""Real stores of memory systems, made as their documents say, and what an import of each keeps."""
