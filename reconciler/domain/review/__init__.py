"""Past decisions: explained, replayed, replayed with one change, measured. Pure."""
