"""What persons decide and answer. No import of an agent's door leads here."""
