"""What a model calls: its tools, bound to one contact by the builder of the agent."""
