"""Unit vectors: a model's vectors, brought to length 1. Numpy is imported at the first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reconciler.errors import EmbeddingError
from reconciler.floats import Floats


def unit(vectors: Floats) -> Floats:
    """Vectors scaled to length 1, in the same directions: float32, shape as given.

    Raises:
        EmbeddingError: a vector has no direction: it is zero, or holds NaN or infinity.
    """
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.all(np.isfinite(lengths) & (lengths > 0)):
        raise EmbeddingError("the model gave a vector that is zero, or holds NaN or infinity")
    return np.asarray(vectors / lengths, dtype=np.float32)


def joined(vectors: Floats, pieces: Sequence[Sequence[Any]], weights: Sequence[int]) -> Floats:
    """One unit vector for each text: the weighed sum of the vectors of its pieces.

    Args:
        vectors: of all pieces, text by text.
        pieces: of each text, one or more.
        weights: of all pieces.

    Raises:
        EmbeddingError: as ``unit``.
    """
    import numpy as np

    starts = np.cumsum([0, *map(len, pieces[:-1])])
    return unit(np.add.reduceat(vectors * np.array(weights, dtype=np.float32)[:, None], starts))
