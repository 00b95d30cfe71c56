"""Values as phrasings and frames match them: whether they are whole, and known. Pure."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from reconciler.lexicon import Cues, lexicon

__all__ = [
    "PLACES",
    "attribute_of",
    "compiled",
    "cues",
    "group",
    "is_whole",
    "kind_of",
    "listed",
    "replaced",
    "the_only",
    "value_of",
]

PLACES = ("city", "country", "region")
"""Attributes whose values are places, and lists of those that are known."""

VALUE_LENGTH_MAX = 100
"""Characters in a value; a longer one is a statement."""


@cache
def cues() -> Cues:
    """The cues that all attributes share."""
    return Cues(lexicon("slots"), lambda _, pattern: re.compile(pattern, re.IGNORECASE))


def the_only(name: str) -> re.Pattern[str]:
    """The only cue of a list."""
    return cues().pattern(name)


_GOES_ON = re.compile(
    r"['\w%+]|\s?-\s?\d|-\w|[,.]\d|\.[a-z]|\s?[/&]|\s+(?:and|or|&)\s+(?:an?\s|the\s)?(?!I\b)[A-Z0-9]"
)


def is_whole(match: re.Match[str]) -> bool:
    """Whether the value ends where the match does, and nothing behind it takes it back."""
    value, said = value_of(match), match.string
    if not value or len(value) > VALUE_LENGTH_MAX or _GOES_ON.match(said, match.end()):
        return False
    if value[0].isdigit() and the_only("bound").search(said, 0, said.index(value, match.start())):
        return False
    return _is_listed(match) and not the_only("taken_back").search(said, match.end())


def attribute_of(attribute: str, value: str) -> str:
    """The attribute that a value is told of; a city may be known as a country or a region."""
    if attribute != "city":
        return attribute
    return next((place for place in PLACES if value.casefold() in listed(place)), attribute)


def _is_listed(match: re.Match[str]) -> bool:
    """Whether what must be a known place or a given name is one, and what must not is none."""
    return all(
        (said.casefold() in listed(*_LISTS[kind])) is (kind != "novel")
        for kind in _LISTS
        for said in _groups(match, kind)
    )


_LISTS = {
    "known": PLACES,
    "novel": (*PLACES, "first_name"),
    "given": ("first_name",),
}
"""By group, the lists in which what it finds must stand; none of them for what must be novel."""


@cache
def listed(*names: str) -> frozenset[str]:
    """The words of some lists, without case."""
    return frozenset(
        word.replace("\\", "").casefold() for word in lexicon("slots").word_set(*names)
    )


_GROUP = re.compile(r"\(\?P<([a-z]+)>")


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, with a name of its own for each group: two words may bring the same."""
    seen: Counter[str] = Counter()

    def numbered(found: re.Match[str]) -> str:
        seen[found[1]] += 1
        return f"(?P<{found[1]}_{seen[found[1]]}>"

    return re.compile(_GROUP.sub(numbered, pattern), re.IGNORECASE)


@cache
def kind_of(name: str) -> re.Pattern[str]:
    """What finds any of the words of a list, as a whole."""
    return compiled(rf"{lexicon('slots').any_of(name)}(?!\w)")


def _groups(match: re.Match[str], name: str) -> list[str]:
    """What the groups of that name found."""
    return [
        said
        for name_of, said in match.groupdict().items()
        if said and name_of.rpartition("_")[0] == name
    ]


def group(match: re.Match[str], name: str) -> str:
    """The first that the groups of that name found; empty where they found nothing."""
    return next(iter(_groups(match, name)), "")


def value_of(match: re.Match[str]) -> str:
    """The value that was matched: what its groups found, or all of it where there is none."""
    return trimmed(group(match, "value") or match[0])


def trimmed(value: str) -> str:
    """The value without what closes a sentence."""
    return the_only("trailing").sub("", value).strip(" ,;:.!\"'")


def replaced(match: re.Match[str]) -> str | None:
    """The value that gives way: named by the phrasing itself, or behind "instead of"."""
    if said := group(match, "old"):
        return trimmed(said)
    behind = the_only("in_place_of").match(match.string, match.end())
    return trimmed(behind["old"]) if behind else None
