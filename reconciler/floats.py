"""Floats: the type of vectors and of the cosines between them. Numpy is not imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float32]"
"""Numbers of an embedder, in any shape; float32."""
