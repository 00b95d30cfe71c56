"""Floats: the types of vectors, of the cosines between them, and of what makes vectors.

Numpy is not imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float32]"
"""Numbers of an embedder, in any shape; float32."""

Rows: TypeAlias = "NDArray[np.intp]"
"""Places of facts or texts in a table."""

Scores: TypeAlias = "NDArray[np.float64]"
"""A number for each row; float64."""

Flags: TypeAlias = "NDArray[np.bool_]"
"""A yes or no for each row."""

Embed: TypeAlias = "Callable[[Sequence[str]], Floats]"
"""Makes the vectors of texts, a row each."""
