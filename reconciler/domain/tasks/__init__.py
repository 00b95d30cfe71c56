"""A task that an agent works on, its states and the calls that are legal in each. Pure."""
