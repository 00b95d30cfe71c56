"""Erasing: which records an erasure includes, and what is left of a record. Pure."""
