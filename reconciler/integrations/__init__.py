"""Adapters for agent frameworks, above the facade. Each module imports its framework, an extra.

What they give is bound to a contact by the builder of the agent or the starter of the run; no model
chooses one. Nothing here approves anything.
"""
