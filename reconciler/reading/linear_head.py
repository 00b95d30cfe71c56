"""A linear head: a small linear model's results for rows, such as vectors of texts. Pure.

``tools/train_heads.py`` makes them for the packaged model; the callers say what each head is asked,
and decide the effect of its answer.
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
        bounds: the value, or probability, from which each kind counts.
        floors: the value up to which a text is surely not of the kind.
        version: the head's version.
    """

    weights: Floats
    bias: Floats
    kinds: Sequence[str]
    bounds: Sequence[float]
    floors: Sequence[float]
    version: str

    def values(self, rows: Floats) -> Floats:
        """Return the log-odds of each kind, (kinds,) for one row and (rows, kinds) for several."""
        values: Floats = rows @ self.weights + self.bias
        return values
