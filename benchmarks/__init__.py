"""What RESULTS.md and results/ come from; each module prints its own table."""
