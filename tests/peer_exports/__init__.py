"""What other memory systems really hold; README.md says how it was made."""
