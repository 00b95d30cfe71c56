"""Readings of a note's words: its kind, its topic, its speculation, its instructions."""
