"""A model's tools, bound to one contact by the builder of the agent."""
