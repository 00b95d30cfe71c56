"""Signs: what a glance at two texts tells, so that most of them need not be read to be compared.

Every fact near a note is asked whether the note contradicts it, and to read a text costs as much as
all the rest of a decision. Nothing is found here: where a glance is not enough, the texts are read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from reconciler.domain.guard.tokens import kind_of, stem_of
from reconciler.domain.guard.vocabulary import vocabulary
from reconciler.sensitive_data import TOKEN

__all__ = ["may_contradict"]

_WORDS = re.compile(rf"{TOKEN.pattern}|[^\W\d_]+|\d+")
_BEGINNING = 3
"""Letters of a word that stand in all of its forms, and in their stem."""

_REACH = 9
"""Words behind a "not" or a "by" among which the first word of content is what it is about."""

_ARTICLES = frozenset({"a", "an", "per", "each", "every", "other"})
_COUNTING = frozenset({"number", "one", "ordinal", "multiplier", "frequency", "weekday"})


@dataclass(frozen=True, slots=True)
class _Signs:
    """What a glance sees; a word is known by its beginning.

    Attributes:
        words: the words of content.
        pointed_at: the first of them after each denial or "by", and what a prefix denies.
        counts: whether it may count something, or tell how often something is.
        ends: whether it says that something has ended.
    """

    words: frozenset[str]
    pointed_at: frozenset[str]
    counts: bool
    ends: bool


def may_contradict(note: str, fact: str) -> bool:
    """Whether the texts are worth reading to find out whether the one contradicts the other.

    They are not where they share no word of content, nor where both do no more than state.

    Args:
        note: the new text.
        fact: the text that it may contradict.
    """
    here, there = _glance(note), _glance(fact)
    if here.words ^ there.words <= _light():
        return True
    return not here.words.isdisjoint(there.words) and (
        (here.counts and there.counts)
        or here.ends
        or there.ends
        or not here.pointed_at.isdisjoint(there.words)
        or not there.pointed_at.isdisjoint(here.words)
    )


@lru_cache(maxsize=4096)
def _glance(text: str) -> _Signs:
    known = vocabulary()
    folded = text.casefold()
    words = _WORDS.findall(folded.replace("n't", " not ").replace("n’t", " not "))
    content = set(words) - known.function_words - known.currencies.keys()
    beginnings = frozenset(word[:_BEGINNING] for word in content)
    return _Signs(
        words=beginnings,
        pointed_at=_pointed_at(words, content),
        counts=any(word[0].isdecimal() or kind_of(word) in _COUNTING for word in content)
        or (not _countable().isdisjoint(beginnings) and _counts_by_article(words)),
        ends=known.cessation.search(folded) is not None,
    )


def _pointed_at(words: list[str], content: set[str]) -> frozenset[str]:
    known = vocabulary()
    prefixes = known.negative_prefixes
    found = {
        stem_of(word)[len(prefix) :][:_BEGINNING]
        for word in content
        if word.startswith(prefixes)
        for prefix in prefixes
        if word.startswith(prefix)
    }
    if not _pointing().isdisjoint(words):
        for at, word in enumerate(words):
            if word in _pointing():
                after = (other for other in words[at + 1 : at + 1 + _REACH] if other in content)
                found.add(next((other[:_BEGINNING] for other in after if _is_denied(other)), ""))
    return frozenset(found - {""})


def _is_denied(word: str) -> bool:
    """Whether a word may be what is denied: neither a number nor "really"."""
    return kind_of(word) == "word" and not (
        word[0].isdecimal() or word.endswith("ly") or word == "good"
    )


def _counts_by_article(words: list[str]) -> bool:
    """Whether an "a" or "every" may count what follows: "for a month", "every week"."""
    return any(
        before in _ARTICLES and word[:_BEGINNING] in _countable()
        for before, word in pairwise(words)
    )


@cache
def _pointing() -> frozenset[str]:
    return vocabulary().negations | {"by"}


@cache
def _countable() -> frozenset[str]:
    return frozenset(stem[:_BEGINNING] for stem in vocabulary().countable)


@cache
def _light() -> frozenset[str]:
    return frozenset(stem[:_BEGINNING] for stem in vocabulary().light)
