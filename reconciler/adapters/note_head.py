"""The note head: a linear model over a note's vector and words, with its weights beside this file.

It says how far a text resembles each kind of note, and keeps to itself what it is not sure of. It
is trained by ``judge/train_note_head.py``, which also sets the bounds. Loaded at the first note.
"""

from __future__ import annotations

import re
import zlib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from reconciler.domain.gate.leanings import Leaning, Leanings
from reconciler.errors import ConfigurationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["FILE", "MODEL", "HeadFile", "NoteHead", "features", "shares_of"]

FILE = "note_head.npz"
MODEL = "all-MiniLM-L6-v2@53aa5117"
"""The id of the packaged embedding model: it can read the vectors of no other."""

BINS = 1024
"""Places for hashed words and pairs of words; two that share one are told apart by the others."""

_WORD = re.compile(r"\w+")
_WORDS_MAX = 20
_DIGITS_MAX = 8


class HeadFile(NamedTuple):
    """The trained head.

    Attributes:
        weights: float32, (features, kinds).
        bias: float32, (kinds,).
        kinds: the name of each column.
        bounds: from which probability on each kind counts; above 1 where it is switched off.
        no_order_max: up to which probability of an order a text counts as none.
        version: of the head.
    """

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    kinds: tuple[str, ...]
    bounds: tuple[float, ...]
    no_order_max: float
    version: str


class NoteHead:
    """Reads what a note resembles. Threads may share it.

    Args:
        head: what was trained; None for what comes with this package.
    """

    def __init__(self, head: HeadFile | None = None) -> None:
        self._given = head

    def leanings(self, text: str, vector: NDArray[np.float32]) -> Leanings:
        """What it is sure of in a text; ``vector`` is the text's, float32, unit length."""
        head = self._head
        shares = shares_of(head, features(text, vector))
        sure = {
            Leaning(kind): float(share)
            for kind, share, bound in zip(head.kinds, shares, head.bounds, strict=True)
            if share >= bound and kind in _KINDS
        }
        order = shares[head.kinds.index(Leaning.ORDER)]
        return Leanings(sure, head.version, is_no_order=bool(order <= head.no_order_max))

    @property
    def _head(self) -> HeadFile:
        return self._given or _packaged()


_KINDS = frozenset(Leaning)


def features(text: str, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """The vector, the words and pairs of words by hash, and four traits: float32, one row.

    A pair tells "this time" from "this"; no vector of a whole sentence does.
    """
    import numpy as np

    words = _WORD.findall(text.casefold())
    pairs = (f"{first} {second}" for first, second in zip(["^", *words], words, strict=False))
    places = {zlib.crc32(each.encode()) % BINS for each in (*words, *pairs)}
    hashed = np.zeros(BINS, np.float32)
    hashed[list(places)] = 1 / max(len(places), 1) ** 0.5
    traits = (
        min(len(words), _WORDS_MAX) / _WORDS_MAX,
        0.5 * ("?" in text),
        0.5 * ("!" in text),
        min(sum(map(str.isdigit, text)), _DIGITS_MAX) / (2 * _DIGITS_MAX),
    )
    return np.concatenate((vector, hashed, np.array(traits, np.float32)))


def shares_of(head: HeadFile, row: NDArray[np.float32]) -> NDArray[np.float32]:
    """The probability of each kind; they sum up to 1."""
    import numpy as np

    logits = row @ head.weights + head.bias
    powers = np.exp(logits - logits.max())
    shares: NDArray[np.float32] = powers / powers.sum()
    return shares


@cache
def _packaged() -> HeadFile:
    import numpy as np

    file = resources.files("reconciler.adapters") / FILE
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as read:
            return HeadFile(
                weights=read["weights"].astype(np.float32) * read["scale"],
                bias=read["bias"],
                kinds=tuple(map(str, read["kinds"])),
                bounds=tuple(map(float, read["bounds"])),
                no_order_max=float(read["no_order_max"]),
                version=str(read["version"]),
            )
    except (OSError, KeyError, ValueError) as error:
        raise ConfigurationError(
            f"{FILE} of this installation cannot be read ({error}); install the package again"
        ) from error
