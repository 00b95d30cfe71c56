"""The stores, which alone name queries, and the patience of the graph beneath them."""
