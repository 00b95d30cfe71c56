"""Persons' decisions and answers. No agent's door imports this."""
