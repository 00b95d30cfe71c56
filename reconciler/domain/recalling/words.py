"""Words: which facts hold the words of a question, and how much those words tell. Pure.

Words are compared by their stem, without those that every sentence holds. The library is loaded
with the first index.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reconciler.domain.records.notes import canonical_text

__all__ = ["WordIndex", "WordMatches", "content_words"]

_WORD = re.compile(r"\w+")
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
        told = [content_words(text) for text in texts]
        self._holding: dict[str, list[int]] = {}
        for row, words in enumerate(told):
            for word in dict.fromkeys(words):
                self._holding.setdefault(word, []).append(row)
        self._bm25 = _indexed(told) if self._holding else None

    def matches(self, question: str) -> WordMatches:
        """How well each text's words fit the question's, in the order of the texts."""
        scores, shares = np.zeros(self._size), np.zeros(self._size)
        asked = list(dict.fromkeys(content_words(question)))
        known = [word for word in asked if word in self._holding]
        if self._bm25 is None or not known:
            return WordMatches(scores, shares)
        weights = {word: self._weight(word) for word in asked}
        for word in known:
            shares[self._holding[word]] += weights[word]
        scores[:] = self._bm25.get_scores(known)
        return WordMatches(scores, shares / sum(weights.values()))

    def _weight(self, word: str) -> float:
        """What the word tells: most where no text holds it. BM25's inverse document frequency."""
        holding = len(self._holding.get(word, ()))
        return math.log(1 + (self._size - holding + 0.5) / (holding + 0.5))


def content_words(text: str) -> list[str]:
    """The stems of the words that say something, in their order; a word as often as it stands."""
    words = _WORD.findall(canonical_text(text).casefold())
    return [_stem(word) for word in words if word not in _stop_words()]


def _indexed(told: Sequence[Sequence[str]]) -> Any:
    index = _bm25s().BM25()
    index.index(list(map(list, told)), show_progress=False)
    return index


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
