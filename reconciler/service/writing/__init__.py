"""The way of a write: doors, gate, reconciler, ledger; import and answers go the same way."""
