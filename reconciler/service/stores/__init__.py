"""The stores, which alone name queries, and the graph that retries their queries."""
