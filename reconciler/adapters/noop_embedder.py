"""The embedder that does not embed: for a first look without a model. Every note is an ADD."""

from __future__ import annotations

from collections.abc import Sequence

from reconciler.floats import Floats


class NoopEmbedder:
    """An embedder with ``dimension`` 0, which means that nothing can be compared."""

    model_id = "noop"
    dimension = 0

    def embed(self, texts: Sequence[str]) -> Floats:
        """An array of shape (n, 0)."""
        import numpy as np

        return np.empty((len(texts), 0), dtype=np.float32)

    def warm_up(self) -> float:
        """Ready at once."""
        return 0.0

    def close(self) -> None:
        """Nothing to stop."""
