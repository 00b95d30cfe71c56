"""What the memory does: the doors, the reconciler, the store, recall. Knows ports, not adapters."""
