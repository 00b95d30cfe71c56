"""Slot reading: the slot that a plain sentence gives away. Pure, and written for precision.

How a sentence is taken apart, and what makes it too doubtful to be read, live here; the words are
data: what is said of an attribute stands with it in ``config/attributes.toml``, what all of them
share in ``config/lexicon/slots.toml``. A clause is read by a phrasing, a pattern that fits it from
its beginning, else by a frame (``slot_frames``). A sentence that asks, guesses, plans or denies is
left alone: a wrong slot ends a true fact, a missing one ends nothing. What becomes of a slot must
never come in here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any

from reconciler.domain.text_reading import read_text
from reconciler.domain.values.slot_frames import FrameReader
from reconciler.domain.values.slot_values import (
    PLACES,
    attribute_of,
    compiled,
    cues,
    group,
    is_whole,
    kind_of,
    listed,
    replaced,
    the_only,
    value_of,
)
from reconciler.lexicon import Cues, Held, Lexicon, lexicon, read_lexicon

__all__ = ["ReadSlot", "SlotReader", "find_condition", "is_reported"]

TEXT_LENGTH_MAX = 600
"""Characters in a text that is read; a longer one says more than one thing."""

SENTENCE_LENGTH_MAX = 240
"""Characters in a sentence that is read; whoever says something plainly needs fewer."""

_CLAUSES_MAX = 8

_DENYING = ("end", "denial")
"""Kinds of phrasings that say of a value that it does not hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSlot:
    """What a sentence says of whom.

    Attributes:
        attribute: the canonical name of what is said.
        value: its value in the words of the sentence; the one that is denied, where one is.
        words: the sentence that it was read from.
        subject: whom it is about, such as ``assistant``; None for whom the text is about.
        name: the name by which the sentence calls whom it is about; None where it uses none.
        is_change: whether it says that the value was another one before.
        replaces: the value before, where the sentence names it.
        is_denied: whether it says that the value does not hold, no longer or not at all, and names
            no other.
        is_addition: whether it says that the value holds beside another one.
    """

    attribute: str
    value: str
    words: str
    subject: str | None = None
    name: str | None = None
    is_change: bool = False
    replaces: str | None = None
    is_denied: bool = False
    is_addition: bool = False


class SlotReader:
    """Reads slots out of plain sentences, in the first person and in the third.

    Args:
        source: the file of phrasings and frames, as an error names it.
        phrasings: by attribute, its cues. The group ``value`` of a pattern is the value, ``who``
            a relation whom it is about, ``name`` a name. Kind ``change`` says that there was
            another value, ``end`` that this one holds no longer, ``denial`` that it never did.
        frames: by attribute, its frames, which are tried where no phrasing fits.
        named: the attribute that goes by a name or an alias, for lines such as ``Budget: 40k EUR``.
    """

    def __init__(
        self,
        source: str,
        phrasings: Mapping[str, Sequence[Mapping[str, Any]]],
        frames: Mapping[str, Sequence[Mapping[str, Any]]],
        named: Callable[[str], str | None],
    ) -> None:
        cues = read_lexicon(source, phrasings).cues
        self._cues = Cues(
            Lexicon(source, lexicon("slots").lists, cues), lambda _, pattern: compiled(pattern)
        )
        self._frames = FrameReader(lexicon("slots"), source, frames)
        self._named = named

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
        plain = read_text(text).plain.strip()
        if the_only("taken_back_later").search(plain):
            return None
        sentences = [" ".join(each.text.split()) for each in read_text(plain).sentences]
        found: list[ReadSlot] = []
        for number, sentence in enumerate(sentences):
            names_another = any(map(the_only("somebody_else").search, sentences[:number]))
            if not names_another or the_only("speakers_own").match(sentence):
                found += self._read(sentence)
        return _the_only(found)

    def _read(self, sentence: str) -> list[ReadSlot]:
        folded = rewritten(sentence)
        held = self._cues.read(folded, folded.casefold())
        label = the_only("label").match(folded)
        attribute = self._named(label[1]) if label else None
        if not (held.names or attribute or self._frames.may_read(folded)) or is_doubtful(folded):
            return []
        tried = [
            (name, cue.kind, pattern)
            for name in held.names
            for cue, pattern in held.worth_trying(name)
        ]
        for said in dict.fromkeys([the_only("taken_up").sub(" is ", folded), folded]):
            reads = (self._read_clause(clause, sentence, tried) for clause in _clauses(said))
            if found := [read for read in reads if read]:
                is_addition = the_only("addition").search(folded) is not None
                return [
                    replace(read, is_addition=is_addition)
                    for read in found
                    if not attribute or _is_all_of(folded, attribute, read)
                ]
        if not (label and attribute):
            return []
        value = self._frames.value(attribute, folded, label.end())
        return [ReadSlot(attribute=attribute, value=value, words=sentence)] if value else []

    def _read_clause(
        self, clause: _Clause, sentence: str, tried: Sequence[_Tried]
    ) -> ReadSlot | None:
        forms = [form for form in (clause, _without_adjuncts(clause)) if form]
        reads = chain(
            (_by_phrasing(form, sentence, tried) for form in forms),
            (self._by_frame(form, sentence) for form in forms),
        )
        return next((read for read in reads if read), None)

    def _by_frame(self, clause: _Clause, sentence: str) -> ReadSlot | None:
        """What the frame says of which the clause holds most; None where two say as much."""
        found = sorted(self._frames.read(clause.said), key=lambda read: -read.weight)
        if not found or (
            len(found) > 1
            and found[0].weight == found[1].weight
            and found[0].attribute != found[1].attribute
        ):
            return None
        best = found[0]
        return ReadSlot(
            attribute=attribute_of(best.attribute, best.value),
            value=best.value,
            words=sentence,
            subject=_said_of("who", best.about),
            name=_said_of("name", best.about) or clause.name,
            is_change=best.old is not None,
            replaces=best.old,
        )


_Tried = tuple[str, str, re.Pattern[str]]
"""An attribute, what its phrasing says of the value, and the pattern."""


def _by_phrasing(clause: _Clause, sentence: str, tried: Sequence[_Tried]) -> ReadSlot | None:
    """What the phrasing says that fits most of the clause."""
    matches = [
        (match, attribute, kind, about)
        for said, about in (_marked(clause.said) if tried else ())
        for attribute, kind, pattern in tried
        if (match := pattern.match(said)) and is_whole(match)
    ]
    if not matches:
        return None
    match, attribute, kind, about = min(
        matches, key=lambda candidate: len(candidate[0].string) - candidate[0].end()
    )
    value = value_of(match)
    return ReadSlot(
        attribute=attribute_of(attribute, value),
        value=value,
        words=sentence,
        subject=_said_of("who", match, about) or ("company" if group(match, "firm") else None),
        name=_said_of("name", match, about) or clause.name,
        is_change=kind == "change",
        replaces=replaced(match),
        is_denied=kind in _DENYING,
    )


def _is_all_of(line: str, attribute: str, read: ReadSlot) -> bool:
    """Whether a line that names an attribute says nothing but its value."""
    is_of_it = read.attribute == attribute or {read.attribute, attribute} <= {*PLACES}
    return is_of_it and line.rstrip(" .!").endswith(read.value)


def _said_of(name: str, *matches: re.Match[str] | None) -> str | None:
    """What the first of the matches found by that name."""
    return next((said for match in matches if match and (said := group(match, name))), None)


def _marked(said: str) -> Iterator[tuple[str, re.Match[str] | None]]:
    """The clause as it stands, and with a mark in the place of whom it begins with."""
    yield said, None
    for kind in ("whoever", "whose"):
        if about := kind_of(kind).match(said):
            yield _mark(kind, about) + said[about.end() :], about


def _mark(kind: str, about: re.Match[str]) -> str:
    if kind == "whose":
        return "¶"
    name = group(about, "name")
    return "§" if not name or _first_name(name) else "¤"


# A text, its sentences, their clauses

_CLAUSE = re.compile(
    r"(?:[,;:]|\s-)\s+(?:(?:and|but|so|because|since|as)\s+)?"
    r"|\s(?:and|but|so|because|after which|then)\s+"
)


def rewritten(sentence: str) -> str:
    """The sentence as phrasings expect it: without short forms, and as a plain statement."""
    for cue, pattern in _held(sentence).worth_trying("rewrite"):
        sentence = pattern.sub(cue.kind, sentence)
    return sentence


def is_doubtful(sentence: str) -> bool:
    """Whether it asks, guesses, plans, plays or quotes, so that nothing is read out of it."""
    if len(sentence) > SENTENCE_LENGTH_MAX or sentence.rstrip("\"')!. ").endswith("?"):
        return True
    held = _held(sentence)
    return any(held.first(name) is not None for name in ("doubt", "open", "reported"))


@lru_cache(maxsize=64)
def _held(sentence: str) -> Held:
    """The cues that the sentence may hold; read once, whatever is asked of it."""
    return cues().read(sentence, sentence.casefold())


def find_condition(sentence: str) -> re.Match[str] | None:
    """The clause that the sentence hangs on, such as "once the deal closes"; None without one."""
    return _held(sentence).first("open")


def is_reported(sentence: str) -> bool:
    """Whether it passes on the words of another, in which "I" may be anybody."""
    return _held(sentence).first("reported") is not None


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
    for start in [0, *(match.end() for match in _CLAUSE.finditer(sentence))][:_CLAUSES_MAX]:
        if start and the_only("somebody_else").search(sentence, 0, start):
            return
        opening = the_only("opening").match(sentence, start)
        begin = opening.end() if opening else start
        said = the_only("filler").sub("", sentence[begin:])
        is_named = the_only("another_subject").match(said) is not None
        if start == 0:
            name, is_of_another = _first_name(said), is_named
        elif is_of_another and not (is_named or the_only("own_subject").match(said)):
            continue
        yield _Clause(said, name)


def _without_adjuncts(clause: _Clause) -> _Clause | None:
    """The clause without what only says when and why; None where it says neither.

    Nor is there one where what would be left out takes back what is said.
    """
    left_out = [match[0] for match in the_only("adjunct").finditer(clause.said)]
    if not left_out or any(map(the_only("taken_back").search, left_out)):
        return None
    return replace(clause, said=the_only("adjunct").sub("", clause.said))


def _first_name(said: str) -> str | None:
    first = said.partition(" ")[0]
    return first if first.casefold() in listed("first_name") else None


def _the_only(found: Sequence[ReadSlot]) -> ReadSlot | None:
    """The one slot that all clauses agree on; what is denied gives way to what holds."""
    if not found:
        return None
    standing = [read for read in found if not read.is_denied] or found
    first = standing[0]
    told = {(read.attribute, read.value.casefold(), read.subject) for read in standing}
    if len(told) > 1 or any(read.attribute != first.attribute for read in found):
        return None
    denied = next((read.value for read in found if read.is_denied), None)
    return replace(first, replaces=first.replaces or denied) if not first.is_denied else first
