"""The steps of a write: doors, gate, reconciler, ledger; also of imports and answers."""
