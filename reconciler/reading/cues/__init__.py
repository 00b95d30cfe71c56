"""What a note is by its words: its kind, its topic, its speculation, its instructions."""
