"""What a text says of the value of its slot: whether it denies it, and of which matter it holds.

A slot knows its subject and its attribute. That "her budget for the ERP project" is another one
than "her budget for the CRM rollout", and that "never worked at Globex" names no employer, only the
words say. Nothing here compares values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from reconciler.domain.guard.reading import VALUE_KINDS, Reading, Word, folded
from reconciler.domain.guard.tokens import stem_of, tokens_of
from reconciler.domain.guard.vocabulary import vocabulary

__all__ = ["are_other_matters", "denies", "has_values", "stems_of"]

_DATED = ("id", "month", "year")
"""Kinds of words that tell one matter from another, beside names: "the budget for 2027"."""


def stems_of(text: str) -> frozenset[str]:
    """What is compared of a few words, such as a value or an attribute's name."""
    return frozenset(token.value for token in tokens_of(text) if token.kind != "mark")


def has_values(text: str) -> bool:
    """Whether a number, a date or an id stands in a few words."""
    return any(token.kind in VALUE_KINDS for token in tokens_of(text))


def denies(reading: Reading, value: Reading) -> bool:
    """Whether the text denies the value, or says that it has ended.

    "Does not work at Nordlys and is at Globex" denies Nordlys: a name on the way to the value, or
    an "and", is where a denial ends.
    """
    if value.negated or value.ceased:
        return False  # "not married" is a value of its own
    names = {stem_of(name) for name in reading.names} - value.stems
    for denial in (*reading.negated, *reading.ceased):
        for stem in denial.reach:
            if stem in value.stems:
                return True
            if stem in names:
                break
    return False


def are_other_matters(
    one: Reading, other: Reading, nouns: Collection[str], values: Collection[str]
) -> bool:
    """Whether both texts say what the attribute's value is for, and each names something else.

    Args:
        one: a text.
        other: another text about the same attribute.
        nouns: stems of what the attribute is called, such as "budget".
        values: stems of the values, which are no matter: "her title is head of sales".
    """
    matters = [_matter(reading, nouns, values) for reading in (one, other)]
    named = [
        {word.stem for word in matter if _is_name(word, reading)}
        for matter, reading in zip(matters, (one, other), strict=True)
    ]
    here, there = named if all(named) else [{word.stem for word in matter} for matter in matters]
    return bool(here and there) and here.isdisjoint(there)


def tell_apart(one: Reading, other: Reading, *values: str) -> bool:
    """Whether both say for what or when their values hold, and each names something else.

    "5 chairs for the lobby" and "3 for the hall"; the first invoice and the second.
    """
    aside = stems_of(" ".join(values))
    for kind in ("ordinal", "month", "year"):
        here, there = (reading.values.get(kind, {}).keys() - aside for reading in (one, other))
        if here and there and here.isdisjoint(there):
            return True
    here, there = (_purposes(reading) - aside for reading in (one, other))
    return bool(here and there) and here.isdisjoint(there)


def _purposes(reading: Reading) -> set[str]:
    """What the text says that something is for, or of; not for how long."""
    words, known = reading.words, vocabulary()
    return {
        part.stem
        for at, word in enumerate(words)
        if _opens(word) and word.kind == "word" and word.stem not in known.measures
        for part in _compound(words, at)
    }


def _is_name(word: Word, reading: Reading) -> bool:
    return word.kind in _DATED or folded(word.text) in reading.names


def _matter(reading: Reading, nouns: Collection[str], values: Collection[str]) -> list[Word]:
    """The words behind "for" or "of", and those right before the noun: "the travel budget"."""
    words = reading.words
    places = [at for at, word in enumerate(words) if word.stem in nouns]
    if not places:
        return []
    known = vocabulary()
    aside = {*nouns, *values, *known.light, *known.measures, *known.stages}
    found = {
        *(part for at, word in enumerate(words) if _opens(word) for part in _compound(words, at)),
        *(words[at - 1] for at in places if at and not words[at].gap),
    }
    return [word for word in found if word.stem not in aside and word.kind in ("word", *_DATED)]


def _opens(word: Word) -> bool:
    return word.governor == "for" or word.gap == "of"


def _compound(words: tuple[Word, ...], at: int) -> Iterator[Word]:
    yield words[at]
    for word in words[at + 1 : at + 3]:
        if word.gap not in ("", "hyphen"):
            return
        yield word
