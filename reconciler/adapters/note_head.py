"""What a note resembles, as a linear head over its vector and words tells it.

It says how far a text resembles each kind of note, and keeps to itself what it is not sure of.
"""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

from reconciler.floats import Floats
from reconciler.reading.cues.leanings import Leaning, Leanings
from reconciler.reading.sensitive_data import without_hashes

if TYPE_CHECKING:
    from reconciler.reading.linear_head import LinearHead

BINS = 1024
"""Places for hashed words and pairs of words; two that share one are told apart by the others."""

_WORD = re.compile(r"\w+")
_WORDS_MAX = 20
_ORDER_WORDS_MAX = 17
"""The words of the longest note that the head learned from. A longer one looks like an order to it:
it took 32 of 213 plain turns of conversations for one."""
_DIGITS_MAX = 8


def leanings(head: LinearHead, text: str, vector: Floats) -> Leanings:
    """What the head is sure of in a text; ``vector`` is the text's, float32, unit length."""
    shares = _shares(head.values(features(text, vector)))
    kinds = list(zip(head.kinds, shares, head.bounds, head.floors, strict=True))
    sure = {Leaning(kind): share for kind, share, bound, _ in kinds if share >= bound}
    if len(_WORD.findall(text)) > _ORDER_WORDS_MAX:
        sure.pop(Leaning.ORDER, None)
    absent = {kind for kind, share, _, floor in kinds if share <= floor}
    return Leanings(sure, head.version, is_no_order=Leaning.ORDER in absent)


def sure_kinds(head: LinearHead, text: str, vector: Floats) -> frozenset[str]:
    """Kinds that the head is sure of in a text; ``vector`` as for ``leanings``."""
    told = zip(head.kinds, _shares(head.values(features(text, vector))), head.bounds, strict=True)
    return frozenset(kind for kind, share, bound in told if share >= bound)


def features(text: str, vector: Floats) -> Floats:
    """Vector, the words and pairs of words by hash, and four traits: float32, one row.

    A pair tells "this time" from "this"; no vector of a whole sentence does.
    """
    import numpy as np

    text = without_hashes(text)
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


def _shares(values: Floats) -> list[float]:
    """Probability of each kind; they sum up to 1."""
    import numpy as np

    powers = np.exp(values - values.max())
    shares: list[float] = (powers / powers.sum()).tolist()
    return shares
