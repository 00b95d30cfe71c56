"""Adapters for agent frameworks, above the facade. Each module imports its framework, an extra.

What they give is bound to a contact by whoever builds the agent or starts the run; no model chooses
one. Nothing here approves anything.
"""
