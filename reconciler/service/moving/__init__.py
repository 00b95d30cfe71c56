"""Moving a memory: exports as lines of JSON, what restores them, and one contact's on a page."""
