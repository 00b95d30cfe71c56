"""Past decisions: explained, replayed, measured. Pure."""
