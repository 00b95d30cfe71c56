"""Unit vectors: a model's vectors, brought to length 1. Numpy is imported at the first use."""

from __future__ import annotations

from reconciler.domain.floats import Floats
from reconciler.errors import EmbeddingError


def unit(vectors: Floats) -> Floats:
    """The vectors scaled to length 1, in the same directions: float32, shape as given.

    Raises:
        EmbeddingError: a vector has no direction: it is zero, or holds NaN or infinity.
    """
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.all(np.isfinite(lengths) & (lengths > 0)):
        raise EmbeddingError("the model gave a vector without a direction")
    return np.asarray(vectors / lengths, dtype=np.float32)
