"""Mentions: finds the facts about a named person or thing. Pure.

Whole words count, never a likeness: who asks about "ACME" is not told of the dog, however near the
two sound to a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from reconciler.domain.recalling.words import DATED, content_words
from reconciler.domain.records.facts import Fact, FoundIn
from reconciler.domain.values.text import organisation, text
from reconciler.errors import InvalidRequestError

T = TypeVar("T")

_POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"(?<!^)\b(?:[^\W\d_a-z]\w+(?:[ -](?=[^\W\d_a-z])\w+)*|\w*\d\w*)")


def needles(name: str) -> tuple[str, ...]:
    """The spellings of a name in a text: itself, and an organisation without its legal form.

    Empty if the name holds no letter or digit.
    """
    said = _POSSESSIVE.sub("", name)
    return tuple(
        dict.fromkeys(spelling for spelling in (text(said), organisation(said)) if _holds(spelling))
    )


def mentioning(
    items: Iterable[T], name: str, fact_of: Callable[[T], Fact]
) -> list[tuple[T, FoundIn]]:
    """The items with facts that mention a name, each with the place where.

    Facts about the name come first, then those that have it as their value, then those that only
    name it; among equals the one said last.

    Args:
        items: what holds a fact each.
        name: as people write it.
        fact_of: gives the fact of an item.

    Raises:
        InvalidRequestError: the name holds no letter or digit.
    """
    wanted = needles(name)
    if not wanted:
        raise InvalidRequestError(f"name {name!r} holds no letter or digit")
    order = tuple(FoundIn)
    hits = [(item, place) for item in items if (place := found_in(fact_of(item), wanted))]
    hits.sort(key=lambda hit: fact_of(hit[0]).last_confirmed_at, reverse=True)
    return sorted(hits, key=lambda hit: order.index(hit[1]))


def names_in(query: str) -> list[str]:
    """The names in a question: words with a capital letter inside a sentence, and numbers.

    The first word of a question does not count, nor do months and days of the week; a name in small
    letters is not seen.
    """
    names = (name for name in dict.fromkeys(_NAME.findall(query.strip())) if name not in DATED)
    return [name for name in names if needles(name) and content_words(name)]


def longest_word(name: str) -> str:
    """The longest word of a name, in small letters, as it stands in texts that mention it."""
    words = _WORD.findall(_POSSESSIVE.sub("", name).lower())
    return max(words, key=len, default="")


def found_in(fact: Fact, wanted: tuple[str, ...]) -> FoundIn | None:
    """The place where a fact mentions one of the needles as whole words; None without one.

    The fact's subject comes first, then the value of its slot, then its words.
    """
    slot = fact.slot
    places = (
        (FoundIn.SUBJECT, slot.subject if slot else None),
        (FoundIn.VALUE, slot.value if slot else None),
        (FoundIn.TEXT, fact.text),
    )
    return next((place for place, said in places if said and mentions(said, wanted)), None)


def mentions(said: str, wanted: tuple[str, ...]) -> bool:
    """Whether a text holds one of the needles as whole words."""
    words = f" {text(_POSSESSIVE.sub('', said))} "
    return any(f" {name} " in words for name in wanted)


def _holds(needle: str) -> bool:
    return any(map(str.isalnum, needle))
