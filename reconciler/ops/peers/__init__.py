"""Readers of other memory systems: a module for each, and one for each kind of source."""
