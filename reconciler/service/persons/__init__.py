"""Persons' decisions and answers. No import of an agent's door leads here."""
