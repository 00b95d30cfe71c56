"""Erasing: what goes with what is to be forgotten, and what is left of a record. Pure."""
