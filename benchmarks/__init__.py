"""What the figures in the README come from; each module prints its own table."""
