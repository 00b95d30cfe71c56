"""What FIGURES.md comes from; each module prints its own table."""
