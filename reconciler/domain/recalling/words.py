"""Words: which facts hold the words of a question, and how much those words tell. Pure.

Words are compared by their stem, without those that every sentence holds. The libraries of both are
loaded with the first text.
"""

from __future__ import annotations

import logging
import math
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reconciler.domain.records.notes import canonical_text

__all__ = ["WordIndex", "WordMatches", "content_words"]

_WORD = re.compile(r"\w+")
_K1, _B = 1.5, 0.75
"""How soon a word that is repeated tells no more, and how much a long text is held against it.
Source: BM25 as Lucene and bm25s have it."""
_NONE = array("i")
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WordMatches:
    """How well the words of each text fit a question's.

    Attributes:
        scores: BM25, 0 where no word is shared; shape (texts,).
        shares: the share of the question's words that stand in the text, each weighed by how few
            of the texts hold it, 0 to 1; shape (texts,).
    """

    scores: Scores
    shares: Scores


class WordIndex:
    """Texts by their words; made once, asked by any number of threads.

    Args:
        texts: what is searched.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._size = len(texts)
        rows: dict[str, array[int]] = {}
        lengths = np.zeros(self._size)
        for row, text in enumerate(texts):
            words = content_words(text)
            lengths[row] = len(words)
            for word in words:
                rows.setdefault(word, array("i")).append(row)
        self._rows = rows
        """By a word the texts that hold it, one as often as it does; numpy reads it as it is."""
        mean = lengths.mean() if rows else 1.0
        self._damping = _K1 * (1 - _B + _B * lengths / mean)

    def matches(self, question: str) -> WordMatches:
        """How well each text's words fit the question's, in the order of the texts."""
        scores, shares, told = np.zeros(self._size), np.zeros(self._size), 0.0
        for word in dict.fromkeys(content_words(question)):
            times = np.bincount(self._rows.get(word, _NONE), minlength=self._size)
            weight = self._weight(int(np.count_nonzero(times)))
            scores += weight * times / (times + self._damping)
            shares[times > 0] += weight
            told += weight
        return WordMatches(scores, shares / told if told else shares)

    def _weight(self, holding: int) -> float:
        """What a word tells that so many texts hold: most where none does."""
        return math.log(1 + (self._size - holding + 0.5) / (holding + 0.5))


def content_words(text: str) -> list[str]:
    """The stems of the words that say something, in their order; a word as often as it stands."""
    words, left_out = _WORD.findall(canonical_text(text).casefold()), _stop_words()
    return [_stem(word) for word in words if word not in left_out]


@cache
def _bm25s() -> Any:
    import bm25s

    # It has its own messages of every step printed wherever the program prints any.
    logging.getLogger("bm25s").setLevel(logging.NOTSET)
    return bm25s


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(_bm25s().stopwords.STOPWORDS_EN_PLUS)


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))
