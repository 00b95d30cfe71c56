"""Implementations of the ports, the technology's name first; each translates errors once."""
