"""The finders of exchanged roles: the same words in another order, or in another voice.

Two texts are aligned word by word; groups of words that moved are found; ``_Order._is_harmless``
lets a move through that is mere wording. The meaning of a word never counts here, only its place,
the gap before it and its preposition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from reconciler.domain.guard.reading import Reading, Word
from reconciler.domain.records.findings import Difference, Finding

_COMPOUND_WORDS_MAX = 3
"""Words of a compound that may turn round: "block of stone", "stone block".

Source: measured on PAWS; longer ones hide swaps, 15 of 494 without this limit, 3 with it."""

_REPEATS_MAX = 8
"""Places of a repeated word that are compared; bounds the time for a text of one word."""


def find_voice(new: Reading, old: Reading) -> Iterator[Finding]:
    """Active against passive in the same order: the doer and the other one change roles."""
    for in_note, in_fact in _turned(new, old):
        yield Finding(kind=Difference.ROLES, in_note=in_note, in_fact=in_fact, is_change=True)
    for in_fact, in_note in _turned(old, new):
        yield Finding(kind=Difference.ROLES, in_note=in_note, in_fact=in_fact, is_change=True)


def find_order(new: Reading, old: Reading) -> Iterator[Finding]:
    """Swapped words: the same words in another order that is more than mere wording."""
    is_sorted = new.canonical < old.canonical  # so that the answer is the same both ways
    here, there = (new, old) if is_sorted else (old, new)
    swapped = _Order(here.words, there.words).swapped()
    if swapped:
        as_here = " ".join(here.words[pair.here].text for pair in swapped)
        as_there = " ".join(there.words[at].text for at in sorted(pair.there for pair in swapped))
        in_note, in_fact = (as_here, as_there) if is_sorted else (as_there, as_here)
        is_change = new.stems == old.stems  # where words changed too, it may be a paraphrase
        yield Finding(kind=Difference.ROLES, in_note=in_note, in_fact=in_fact, is_change=is_change)


def _turned(passive: Reading, active: Reading) -> Iterator[tuple[str, str]]:
    """Each "acquired by Globex" for which the other text has "acquired Globex", as both have it."""
    pairs = [
        (verb, agent)
        for verb, agent in pairwise(passive.words)
        if agent.governor == "by" and verb.gap == "is"
    ]
    if not pairs:
        return
    direct = {(verb.stem, word.stem) for verb, word in pairwise(active.words) if not word.gap}
    for verb, agent in pairs:
        if (verb.stem, agent.stem) in direct:
            yield f"{verb.text} by {agent.text}", f"{verb.text} {agent.text}"


class _Pair(NamedTuple):
    """One word's places in both texts."""

    here: int
    there: int


class _Order:
    """The words that two texts share, and whether their order differs so that it may matter.

    A group of words stands in another order. If it falls into two halves that only changed places,
    the words between and around them decide. Anything more tangled (two words swapped across others
    that stayed) counts as a swap of roles. Source: measured on PAWS.
    """

    def __init__(self, here: tuple[Word, ...], there: tuple[Word, ...]) -> None:
        self._here = here
        self._there = there

    def swapped(self) -> list[_Pair]:
        """A group of words with an order that matters; empty if there is none."""
        pending = _unmoved_apart(self._aligned())
        while pending:
            group = pending.pop()
            if len(group) < 2:
                continue
            halves = self._harmless_exchange(group)
            if halves is None:
                return group
            pending += [part for half in halves for part in _unmoved_apart(half)]
        return []

    def _aligned(self) -> list[_Pair]:
        """Each word here with the same word there; of several, the one with the same neighbours."""
        places: dict[str, list[int]] = defaultdict(list)
        for there, word in enumerate(self._there):
            places[word.stem].append(there)
        pairs = []
        for here, word in enumerate(self._here):
            free = places.get(word.stem)
            if free:
                there = free[0] if len(free) == 1 else self._likeliest(here, free)
                free.remove(there)
                pairs.append(_Pair(here, there))
        return pairs

    def _likeliest(self, here: int, places: list[int]) -> int:
        around = _around(self._here, here)
        return max(
            places[:_REPEATS_MAX],
            key=lambda there: sum(map(str.__eq__, around, _around(self._there, there))),
        )

    def _harmless_exchange(self, group: list[_Pair]) -> tuple[list[_Pair], list[_Pair]] | None:
        """The halves that changed places; empty if their inside follows from the exchange."""
        for cut in _cuts(group):
            left, right = group[:cut], group[cut:]
            if self._is_turned_passive(left, right):
                return [], []
            if self._is_harmless(left, right):
                return left, right
        return None

    def _is_harmless(self, left: list[_Pair], right: list[_Pair]) -> bool:
        """Whether ``left right`` here says the same as ``right left`` there.

        Source: measured on PAWS and ParaRel; each lets one to 18 in 100 paraphrases through, and
        fewer than one in 100 swaps.
        """
        first_there = min(pair.there for pair in left)
        gaps = {self._here[right[0].here].gap, self._there[first_there].gap}
        return (
            gaps == {"list"}  # "tea and coffee", "coffee and tea"
            or gaps == {"is"}  # "Paris is the capital", "the capital is Paris"
            or gaps == {"of", "own"}  # "the budget of Ana", "Ana's budget"
            or (gaps == {"of", ""} and len(left + right) <= _COMPOUND_WORDS_MAX)
            or self._is_fronted(left)
            or self._is_fronted(right)
        )

    def _is_fronted(self, phrase: list[_Pair]) -> bool:
        """Whether a phrase moved as a whole to or from an end of the text ("In 2019, ...").

        If there is a second such phrase ("in 2019 ... in 2021"), it is unknown which one moved.
        """
        here, there = self._here[phrase[0].here], self._there[phrase[0].there]
        return (
            bool(here.governor)
            and here.governor == there.governor
            and all(_phrases_like(here, words) <= 1 for words in (self._here, self._there))
            and self._is_whole_at_an_end(phrase)
        )

    def _is_whole_at_an_end(self, phrase: list[_Pair]) -> bool:
        places = [pair.there for pair in phrase]
        spans = (
            (phrase[0].here, phrase[-1].here, self._here),
            (min(places), max(places), self._there),
        )
        return any(first == 0 or last + 1 == len(words) for first, last, words in spans) and all(
            last + 1 == len(words) or words[last + 1].gap for _, last, words in spans
        )

    def _is_turned_passive(self, left: list[_Pair], right: list[_Pair]) -> bool:
        """Whether the one is the other in the passive: "A acquired B", "B was acquired by A"."""
        agents_here, agents_there = _agents(self._here), _agents(self._there)
        if agents_here:
            return agents_here == {right[0].here} and not agents_there
        return agents_there == {min(pair.there for pair in left)}


def _agents(words: Sequence[Word]) -> set[int]:
    return {at for at, word in enumerate(words) if word.governor == "by"}


def _phrases_like(opening: Word, words: Iterable[Word]) -> int:
    return sum(word.governor == opening.governor and word.kind == opening.kind for word in words)


def _around(words: Sequence[Word], at: int) -> tuple[str, str]:
    before = words[at - 1].stem if at else ""
    after = words[at + 1].stem if at + 1 < len(words) else ""
    return before, after


def _unmoved_apart(pairs: list[_Pair]) -> list[list[_Pair]]:
    """The pairs in groups that follow each other in both texts, each as small as can be."""
    groups: list[list[_Pair]] = []
    start, highest = 0, -1
    least_after = _from_the_end(pairs, min)
    for end, pair in enumerate(pairs, 1):
        highest = max(highest, pair.there)
        if end == len(pairs) or highest < least_after[end]:
            groups.append(pairs[start:end])
            start = end
    return groups


def _cuts(group: list[_Pair]) -> list[int]:
    """The places that part the group into halves which the other text has the other way round."""
    least = list(accumulate((pair.there for pair in group), min))
    most_after = _from_the_end(group, max)
    return [cut for cut in range(1, len(group)) if least[cut - 1] > most_after[cut]]


def _from_the_end(pairs: list[_Pair], extreme: Callable[[int, int], int]) -> list[int]:
    """For each pair, the extreme place over there of it and of all that follow."""
    return list(accumulate((pair.there for pair in reversed(pairs)), extreme))[::-1]
