"""The chain of facts that answers a question of several hops, read from a list of facts.

A chain begins with a fact about something that the question names, goes on with a fact about that
fact's value, and ends with the answer. Only the newest fact about a thing and a relation counts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.consolidation import Asked, FactList, Told

HOPS_MAX = 4


class Chains:
    """The newest facts of a list, by what they are about."""

    def __init__(self, listed: FactList) -> None:
        self._of: defaultdict[str, list[Told]] = defaultdict(list)
        for told in {told.about: told for told in listed.facts}.values():
            self._of[plain(told.subject)].append(told)

    def chain(self, question: Asked) -> tuple[Told, ...]:
        """The shortest chain of two hops or more; empty if the list has none."""
        found = (
            chain
            for name in self._named(question.text)
            for chain in self._from(name, ())
            if plain(chain[-1].value) in set(map(plain, question.answers))
        )
        return min(found, key=len, default=())

    def _named(self, text: str) -> list[str]:
        """What the question names: no name that is part of another one that it names."""
        words = f" {plain(text)} "
        names = [name for name in self._of if name and f" {name} " in words]
        return [
            name
            for name in names
            if not any(name != other and f" {name} " in f" {other} " for other in names)
        ]

    def _from(self, name: str, before: tuple[Told, ...]) -> Iterator[tuple[Told, ...]]:
        for told in self._of.get(name, ()):
            chain = (*before, told)
            if told in before:
                continue
            if before:
                yield chain
            if len(chain) < HOPS_MAX:
                yield from self._from(plain(told.value), chain)


def newest_by_words(listed: FactList, question: Asked) -> str:
    """What a naive reader answers: the newest fact about what the question names.

    Of the facts about the longest subject that the question names, those with most of its words.
    """
    text = f" {plain(question.text)} "
    words = set(text.split())
    named = [told for told in listed.facts if f" {plain(told.subject)} " in text]

    def fit(numbered: tuple[int, Told]) -> tuple[int, int, int]:
        number, told = numbered
        frame = set(plain(told.asked).split())
        return len(plain(told.subject)), len(words & frame), number

    return max(enumerate(named), key=fit)[1].value if named else ""


def plain(text: str) -> str:
    """The words of a text, without case, punctuation and articles."""
    return " ".join(
        word for word in re.findall(r"\w+", text.casefold()) if word not in {"a", "an", "the"}
    )
