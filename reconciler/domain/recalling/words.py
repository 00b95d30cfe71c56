"""Words: which facts hold the words of a question, and how much those words tell. Pure.

Words are compared by their stem, without those that every sentence holds. The stemmer is loaded
with the first text.
"""

from __future__ import annotations

import math
import re
import threading
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reconciler.domain.records.notes import canonical_text

__all__ = ["WordIndex", "WordMatches", "content_words"]

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[,;?\n]")
"""What ends one of the things that a query lists: "knee, walking limits"."""
_NAMED = re.compile(
    r"(?<![\w/.-])(?=[\w/.-]*\d)(?=[\w/.-]*[^\W\d]|[\d/.-]{4})\w+(?:[/.-]\w+)*"  # SL-204, 4711
    r"|(?<=[\w,;] )(?!I\b)[A-Z]\w+(?:[ -][A-Z]\w+)*"  # Dele, not at the beginning
)
"""What a question calls by its number or its name; a count or a day of the month is neither."""
_NAMED_MAX, _NAMED_SHARE = 3, 10
"""What so many texts hold, or one of ten, still tells them from the others."""
_DATED = frozenset(
    word
    for words in (
        "January February March April May June July August September October November December",
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    )
    for word in words.split()
)
"""Written like names, but many different things have one in common."""
_K1, _B = 1.5, 0.75
"""How soon a word that is repeated tells no more, and how much a long text is held against it.
Source: BM25 as Lucene and bm25s have it. The postings are ours: bm25s makes its index again after
each write, which took 276 ms of processor time for 10,000 facts; this takes 115, mostly to read
them."""
_STOP_WORDS = frozenset(
    word
    for words in (
        "a an the this that these those such same other each both all any some few more most no",
        "nor not and or but if because so than then too very just only as while i me my myself we",
        "us our ours ourselves you your yours yourself yourselves he him his himself she her hers",
        "herself it its itself they them their theirs themselves own who whom whose what which",
        "when where why how am is are was were be been being have has had having do does did doing",
        "can could must shall should will would at by for from in into of off on onto out over to",
        "under until up upon with about above after again against before below between down during",
        "further here there now once through s t d m o y re ve ll ain aren couldn didn doesn don",
        "hadn hasn haven isn mightn mustn needn shan shouldn wasn weren won wouldn",
    )
    for word in words.split()
)
"""English words that every sentence may hold, and what an apostrophe leaves of them."""
_NONE = array("i")
Rows = NDArray[np.intp]
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WordMatches:
    """How well the words of each text fit a question's.

    Attributes:
        scores: BM25, 0 where no word is shared; shape (texts,).
        shares: the share of the question's words that stand in the text, each weighed by how few
            of the texts hold it, 0 to 1; of a query that lists several things the best of them;
            shape (texts,).
        asked: the question's words, as they are compared.
        named: which texts hold a number or a name of the question that few do; shape (texts,).
    """

    scores: Scores
    shares: Scores
    asked: tuple[str, ...] = ()
    named: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))


class WordIndex:
    """Texts by their words, asked and added to by any number of threads.

    Args:
        texts: what is searched. They are read with the first question, again if that is
            interrupted.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._lock = threading.Lock()
        self._unread = [texts]
        self._rows: dict[str, array[int]] = {}
        """By a word the texts that hold it, one as often as it does; numpy reads it as it is."""
        self._lengths = array("i")
        """How many words each text has."""

    def add(self, text: str) -> None:
        """One text more, behind all others."""
        with self._lock:
            self._unread.append((text,))

    def matches(self, question: str, rows: Rows | None = None) -> WordMatches:
        """How well each text's words fit the question's, in the order of the texts.

        Args:
            question: what is asked.
            rows: which of the texts there are, in ascending order; None for all. The others count
                for nothing, as if they had never been added.
        """
        words = dict.fromkeys(content_words(question))
        with self._lock:
            self._index_unread()
            lengths = np.array(self._lengths, dtype=np.float64)
            # Counted here: an array that numpy looks at cannot grow.
            counts = [
                np.bincount(self._rows.get(word, _NONE), minlength=len(lengths)) for word in words
            ]
        if rows is not None:
            lengths, counts = lengths[rows], [times[rows] for times in counts]
        damping = _K1 * (1 - _B + _B * lengths / ((lengths.mean() if len(lengths) else 0) or 1.0))
        scores = np.zeros(len(lengths))
        held: dict[str, NDArray[np.bool_]] = {}
        weights: dict[str, float] = {}
        for word, times in zip(words, counts, strict=True):
            holding = np.flatnonzero(times)
            weight = weights[word] = _weight(len(holding), len(lengths))
            scores[holding] += weight * times[holding] / (times[holding] + damping[holding])
            held[word] = times > 0
        shares = _shares(question, held, weights, len(lengths))
        return WordMatches(scores, shares, tuple(words), _named(question, held, len(lengths)))

    def _index_unread(self) -> None:
        read = [content_words(text) for text in chain.from_iterable(self._unread)]
        for row, words in enumerate(read, start=len(self._lengths)):
            self._lengths.append(len(words))
            for word in words:
                self._rows.setdefault(word, array("i")).append(row)
        self._unread = []


def _shares(
    question: str, held: Mapping[str, NDArray[np.bool_]], weights: Mapping[str, float], size: int
) -> Scores:
    """The share of the words of one thing asked for; a thing in fewer words counts for less."""
    parts = [part for part in map(content_words, _PART.split(question)) if part]
    usual = sum(weights.values()) / max(len(parts), 1)
    shares = np.zeros(size)
    for part in map(dict.fromkeys, parts):
        told = sum(weights[word] for word in part)
        holds = sum((weights[word] * held[word] for word in part), start=np.zeros(size))
        shares = np.maximum(shares, holds / max(told, usual))
    return shares


def _named(question: str, held: Mapping[str, NDArray[np.bool_]], size: int) -> NDArray[np.bool_]:
    """The texts that hold all of a number or of a name, or a keyword of a query of keywords."""
    text = canonical_text(question)
    given = (name for name in _NAMED.findall(text) if name not in _DATED)
    names = [content_words(name) for name in given]
    if _is_keywords(text):
        names += [[word] for word in held]
    is_named = np.zeros(size, dtype=np.bool_)
    for name in filter(None, names):
        holds = np.logical_and.reduce([held[word] for word in name])
        if holds.sum() <= max(_NAMED_MAX, size / _NAMED_SHARE):
            is_named |= holds
    return is_named


def _is_keywords(text: str) -> bool:
    """Whether a query is no sentence: each of its words was chosen to find something."""
    return _STOP_WORDS.isdisjoint(_WORD.findall(text.casefold()))


def _weight(holding: int, size: int) -> float:
    """What a word tells that so many of the texts hold: most where none does."""
    return math.log(1 + (size - holding + 0.5) / (holding + 0.5))


def content_words(text: str) -> list[str]:
    """The stems of the words that say something, in their order; a word as often as it stands."""
    words = _WORD.findall(canonical_text(text).casefold())
    return [_stem(word) for word in words if word not in _STOP_WORDS]


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))
