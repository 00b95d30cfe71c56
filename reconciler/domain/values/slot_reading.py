"""Slot reading: the slot that a plain sentence gives away. Pure, and written for precision.

How a sentence is taken apart, and what makes it too doubtful to be read, live here; the words are
data: what is said of an attribute stands with it in ``config/attributes.toml``, what all of them
share in ``config/lexicon/slots.toml``. A sentence that no phrasing fits from its beginning is left
alone, and so is one that asks, guesses, plans or denies: a wrong slot ends a true fact, a missing
one ends nothing. What becomes of a slot must never come in here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from reconciler.lexicon import Cues, Lexicon, lexicon, read_lexicon

__all__ = ["ReadSlot", "SlotReader"]

TEXT_LENGTH_MAX = 600
"""Characters in a text that is read; a longer one says more than one thing."""

SENTENCE_LENGTH_MAX = 240
"""Characters in a sentence that is read; whoever says something plainly needs fewer."""

_CLAUSES_MAX = 8
_VALUE_LENGTH_MAX = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSlot:
    """What a sentence says of whom.

    Attributes:
        attribute: the canonical name of what is said.
        value: its value in the words of the sentence; the one that ended, where it has ended.
        words: the sentence that it was read from.
        subject: whom it is about, such as ``assistant``; None for whom the text is about.
        name: the name by which the sentence calls whom it is about; None where it uses none.
        is_change: whether it says that the value was another one before.
        replaces: the value before, where the sentence names it.
        has_ended: whether it says that the value holds no longer, and names no other.
    """

    attribute: str
    value: str
    words: str
    subject: str | None = None
    name: str | None = None
    is_change: bool = False
    replaces: str | None = None
    has_ended: bool = False


class SlotReader:
    """Reads slots out of plain sentences, in the first person and in the third.

    Args:
        source: the file of the phrasings, as an error names it.
        phrasings: by attribute, its cues. The group ``value`` of a pattern is the value, ``who``
            a relation whom it is about, ``name`` a name. Kind ``change`` says that there was
            another value, ``end`` that this one holds no longer.
    """

    def __init__(self, source: str, phrasings: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        cues = read_lexicon(source, phrasings).cues
        self._cues = Cues(
            Lexicon(source, lexicon("slots").lists, cues),
            lambda _, pattern: re.compile(_with_groups(pattern), re.IGNORECASE),
        )

    @property
    def cues(self) -> Cues:
        """The phrasings, compiled as they are needed."""
        return self._cues

    def read(self, text: str) -> ReadSlot | None:
        """The slot that the text gives away; None where it gives none, or more than one.

        Args:
            text: a note, or one message, of any length.
        """
        if len(text) > TEXT_LENGTH_MAX:
            return None
        plain = _plain(text)
        if not self._cues.read(plain, plain.casefold()).names:
            return None
        found = [read for sentence in _sentences(plain) for read in self._read(sentence)]
        return _the_only(found)

    def _read(self, sentence: str) -> list[ReadSlot]:
        folded = rewritten(sentence)
        if is_doubtful(folded):
            return []
        held = self._cues.read(folded, folded.casefold())
        tried = [
            (attribute, cue.kind, pattern)
            for attribute in held.names
            for cue, pattern in held.worth_trying(attribute)
        ]
        reads = (
            _read_clause(clause, sentence, tried)
            or _read_clause(_without_adjuncts(clause), sentence, tried)
            for clause in (_clauses(folded) if tried else ())
        )
        return [each for each in reads if each]


_Tried = tuple[str, str, re.Pattern[str]]
"""An attribute, what its phrasing says of the value, and the pattern."""


def _read_clause(clause: _Clause | None, sentence: str, tried: Iterable[_Tried]) -> ReadSlot | None:
    """What the phrasing says that fits most of the clause."""
    if clause is None:
        return None
    matches = [
        (match, attribute, kind)
        for attribute, kind, pattern in tried
        if (match := pattern.match(clause.said)) and _is_whole(match)
    ]
    if not matches:
        return None
    match, attribute, kind = max(matches, key=lambda each: each[0].end())
    value = trimmed(_group(match, "value"))
    return ReadSlot(
        attribute=_of_place(value) if attribute == "city" else attribute,
        value=value,
        words=sentence,
        subject=_group(match, "who") or ("company" if _group(match, "firm") else None),
        name=_group(match, "name") or clause.name,
        is_change=kind == "change",
        replaces=_replaced(match),
        has_ended=kind == "end",
    )


@cache
def _lexicon() -> Cues:
    return Cues(lexicon("slots"), lambda _, pattern: re.compile(pattern, re.IGNORECASE))


@cache
def _one_of(name: str) -> re.Pattern[str]:
    """What finds any of the words of a list, as a whole."""
    return re.compile(rf"\b{lexicon('slots').any_of(name)}(?!\w)", re.IGNORECASE)


# A text, its sentences, their clauses

_PLAIN_MARKS = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\n": " "}
)
_SPACES = re.compile(r"\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')]*\s+(?=[\"'(]?[A-Z0-9])")
_CLAUSE = re.compile(
    r"(?:[,;:]|\s-)\s+(?:(?:and|but|so|because|since|as)\s+)?"
    r"|\s(?:and|but|so|because|after which|then)\s+"
)


def _plain(text: str) -> str:
    return _SPACES.sub(" ", text.translate(_PLAIN_MARKS)).strip()


def _sentences(text: str) -> Iterator[str]:
    """The sentences; what was cut behind a short form such as "Dr." is put together again."""
    held = ""
    for part in _SENTENCE_END.split(text):
        held = f"{held} {part}" if held else part
        if not _the("short_form").search(held):
            yield held
            held = ""
    if held:
        yield held


def _the(name: str) -> re.Pattern[str]:
    """The only cue of a list."""
    return _lexicon().pattern(name)


def rewritten(sentence: str) -> str:
    """The sentence as phrasings expect it: without short forms, and as a plain statement."""
    for cue, pattern in _lexicon().read(sentence, sentence.casefold()).worth_trying("rewrite"):
        sentence = pattern.sub(cue.kind, sentence)
    return sentence


def is_doubtful(sentence: str) -> bool:
    """Whether it asks, guesses, plans, plays or quotes, so that nothing is read out of it."""
    if len(sentence) > SENTENCE_LENGTH_MAX or sentence.rstrip("\"')!. ").endswith("?"):
        return True
    return _lexicon().read(sentence, sentence.casefold()).first("doubt") is not None


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause to the end of its sentence as phrasings expect it, and a name it may be about."""

    said: str
    name: str | None = None


def _clauses(sentence: str) -> Iterator[_Clause]:
    """The clauses of a sentence, as far as it is certain whom they are about.

    Behind somebody else nobody knows any more. A bare verb goes with what the sentence began with,
    and "he" with the name that it began with.
    """
    name = None
    for start in [0, *(each.end() for each in _CLAUSE.finditer(sentence))][:_CLAUSES_MAX]:
        if start and _the("somebody_else").search(sentence, 0, start):
            return
        opening = _the("opening").match(sentence, start)
        begin = opening.end() if opening else start
        said = _the("filler").sub("", sentence[begin:])
        is_named = _the("another_subject").match(said) is not None
        if start == 0:
            name, is_of_another = _first_name(said), is_named
        elif is_of_another and not (is_named or _the("own_subject").match(said)):
            continue
        yield _Clause(said, name)


def _without_adjuncts(clause: _Clause) -> _Clause | None:
    """The clause without what only says when and why; None where it says neither.

    Nor is there one where what would be left out takes back what is said.
    """
    left_out = [each[0] for each in _the("adjunct").finditer(clause.said)]
    if not left_out or any(map(_the("taken_back").search, left_out)):
        return None
    return replace(clause, said=_the("adjunct").sub("", clause.said))


def _first_name(said: str) -> str | None:
    first = said.partition(" ")[0]
    return first if first.casefold() in _listed("first_name") else None


# A match, and its value

_GOES_ON = re.compile(r"['\w]|-\w|[,.]\d|\s?[/&]|\s+(?:and|or|&)\s+(?:an?\s|the\s)?(?!I\b)[A-Z0-9]")


def _is_whole(match: re.Match[str]) -> bool:
    """Whether the value ends where the match does, and nothing behind it takes it back."""
    value, said = trimmed(_group(match, "value")), match.string
    if not value or len(value) > _VALUE_LENGTH_MAX or _GOES_ON.match(said, match.end()):
        return False
    return _is_listed(match) and not _the("taken_back").search(said, match.end())


def _of_place(name: str) -> str:
    """The attribute that a place is the value of: a city, unless it is known as something else."""
    kinds = (kind for kind in ("city", "country", "region") if name.casefold() in _listed(kind))
    return next(kinds, "city")


def _is_listed(match: re.Match[str]) -> bool:
    """Whether what must be a known place or a given name is one, and what must not is none."""
    return all(
        (said.casefold() in _listed(*_LISTS[kind])) is (kind != "novel")
        for kind in _LISTS
        for said in _groups(match, kind)
    )


_LISTS = {
    "known": ("city", "country", "region"),
    "novel": ("city", "country", "region", "first_name"),
    "given": ("first_name",),
}
"""By group, the lists in which what it finds must stand; none of them for what must be novel."""


@cache
def _listed(*names: str) -> frozenset[str]:
    return frozenset(
        each.replace("\\", "").casefold() for each in lexicon("slots").word_set(*names)
    )


_GROUP = re.compile(r"\(\?P<([a-z]+)>")


def _with_groups(pattern: str) -> str:
    """The pattern with a name of its own for each group, so that two words may bring the same."""
    seen: Counter[str] = Counter()

    def numbered(found: re.Match[str]) -> str:
        seen[found[1]] += 1
        return f"(?P<{found[1]}_{seen[found[1]]}>"

    return _GROUP.sub(numbered, pattern)


def _groups(match: re.Match[str], name: str) -> list[str]:
    """What the groups of that name found."""
    return [
        said
        for group, said in match.groupdict().items()
        if said and group.rpartition("_")[0] == name
    ]


def _group(match: re.Match[str], name: str) -> str:
    return next(iter(_groups(match, name)), "")


def trimmed(value: str) -> str:
    """The value without what closes a sentence."""
    return _the("trailing").sub("", value).strip(" ,;:.!\"'")


def _replaced(match: re.Match[str]) -> str | None:
    """The value that gives way: named by the phrasing itself, or behind "instead of"."""
    if said := _group(match, "old"):
        return trimmed(said)
    behind = _the("in_place_of").match(match.string, match.end())
    return trimmed(behind["old"]) if behind else None


def _the_only(found: Sequence[ReadSlot]) -> ReadSlot | None:
    """The one slot that all clauses agree on; what has ended gives way to what holds now."""
    if not found:
        return None
    standing = [each for each in found if not each.has_ended] or found
    first = standing[0]
    told = {(each.attribute, each.value.casefold(), each.subject) for each in standing}
    if len(told) > 1 or any(each.attribute != first.attribute for each in found):
        return None
    ended = next((each.value for each in found if each.has_ended), None)
    return replace(first, replaces=first.replaces or ended) if not first.has_ended else first
