"""Adapters for agent frameworks, above the facade. Each module imports its framework, an extra.

The builder of the agent or the starter of the run binds the tools to a contact; a model never
chooses one. Nothing here approves anything.
"""
