"""An agent at work: its task, and the memory calls of one turn after another."""
