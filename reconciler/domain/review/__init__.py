"""What was decided, seen again: explained, replayed, changed by one thing, measured. Pure."""
