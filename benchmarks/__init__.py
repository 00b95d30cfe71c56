"""What RESULTS.md and FIGURES.md come from; each module prints its own table."""
