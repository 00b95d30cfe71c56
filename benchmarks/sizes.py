"""How much a benchmark measures: its full size, with ``SHORT=1`` a short form's, or as asked."""

from __future__ import annotations

import os

__all__ = ["IS_SHORT", "sized"]

IS_SHORT = os.environ.get("SHORT") == "1"


def sized(full: float, short: float, variable: str = "") -> int:
    """The full size, or the short one where all are short; a variable that is set goes first."""
    return int(os.environ.get(variable) or (short if IS_SHORT else full))
