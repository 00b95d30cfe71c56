"""A linear head: what a small linear model says of rows, such as the vectors of texts. Pure.

``tools/train_heads.py`` makes them for the packaged model; which of them is asked what, and what
follows from its answer, is told where it is asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from reconciler.floats import Floats
from reconciler.frozen import in_order


@in_order
class LinearHead:
    """A trained head.

    Attributes:
        weights: float32, (features, kinds).
        bias: float32, (kinds,).
        kinds: the name of each column.
        bounds: from which value, or probability, on each kind counts.
        floors: up to which one a text is surely not of the kind.
        version: of the head.
    """

    weights: Floats
    bias: Floats
    kinds: Sequence[str]
    bounds: Sequence[float]
    floors: Sequence[float]
    version: str

    def values(self, rows: Floats) -> Floats:
        """Log-odds of each kind, (kinds,) for one row and (rows, kinds) for several."""
        values: Floats = rows @ self.weights + self.bias
        return values
