"""What a model calls: its tools, bound to one contact by whoever builds the agent."""
