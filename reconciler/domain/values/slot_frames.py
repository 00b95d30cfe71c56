"""Slot frames: the words of an attribute beside one value of its kind. Pure.

A frame names the words that tell of an attribute and the kind of value that stands beside them:
"budget" and an amount, "allergic" and an allergen. How a clause is accounted for lives here: whom
it is about, words that say nothing by themselves, the words of the frame, its value, and a value
that it took the place of. Where one word is none of these, or denies, or tells of a past that is
over, nothing is read. The words are data, as those of ``slot_reading`` are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, TypeVar

from reconciler.domain.values.slot_values import (
    is_whole,
    kind_of,
    listed,
    replaced,
    the_only,
    value_of,
)
from reconciler.errors import ConfigurationError
from reconciler.lexicon import Lexicon

__all__ = ["Frame", "FrameReader", "Framed"]

T = TypeVar("T")

_DISTANCE_MAX = 9
"""Words between the words of a frame and its value; further away they seldom belong together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What tells of an attribute in any wording; phrases are separated by commas.

    Attributes:
        value: the kind of the value, a list of words in ``config/lexicon/slots.toml``.
        words: phrases of which the clause must hold one; ``~`` behind a verb stands for its
            regular forms, ``^`` for those of the present.
        also: phrases of which it must hold one as well.
        beside: further phrases that may stand there and speak of nothing else.
        link: words of which one must stand right before the value; any may, where it is empty.
        unless: phrases with which the clause speaks of something else.
        needs: literals, separated by spaces, of which the clause must hold one to be tried at all.
        hits: texts that it reads, the value between [ and ].
        misses: texts that look like it, out of which it reads nothing.
    """

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012

    value: str
    words: str
    also: str = ""
    beside: str = ""
    link: str = ""
    unless: str = ""
    needs: str = ""
    hits: tuple[str, ...]
    misses: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Framed:
    """What a frame found in a clause.

    Attributes:
        attribute: of which it tells.
        value: in the words of the clause.
        old: the value that gave way, where the clause names one of the same kind.
        about: whom, as the pattern of subjects matched it; None where the clause names nobody.
        weight: how many letters told of it; the more, the surer.
    """

    attribute: str
    value: str
    old: str | None
    about: re.Match[str] | None
    weight: int


@dataclass(frozen=True, slots=True)
class _Word:
    start: int
    end: int
    folded: str


class _Phrases(Generic[T]):
    """Phrases of one or more words, each with what it tells of, looked up word by word."""

    def __init__(self, phrases: Iterable[tuple[str, T]]) -> None:
        self._by_first: dict[str, list[tuple[list[str], T]]] = {}
        for phrase, told in phrases:
            first, *rest = phrase.casefold().split()
            self._by_first.setdefault(first, []).append((rest, told))

    def found(self, words: Sequence[_Word]) -> Iterator[tuple[T, range]]:
        """What the phrases in the clause tell of, with the numbers of their words."""
        for number, word in enumerate(words):
            for rest, told in self._by_first.get(word.folded, ()):
                end = number + 1 + len(rest)
                if rest == [other.folded for other in words[number + 1 : end]]:
                    yield told, range(number, end)


class _Prepared:
    """A frame, its phrases taken apart."""

    def __init__(self, attribute: str, frame: Frame) -> None:
        self.attribute = attribute
        self.value = frame.value
        self.words = _forms(frame.words)
        self.also = _Phrases((form, None) for form in _forms(frame.also))
        self.needs_also = bool(frame.also)
        self.beside = _Phrases((form, None) for form in _forms(frame.beside))
        self.unless = _Phrases((form, None) for form in _forms(frame.unless))
        self.link = frozenset(_forms(frame.link))
        self.needs = frame.needs.split()


def _read(
    lexicon: Lexicon, source: str, tables: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, tuple[Frame, ...]]:
    """By attribute, the frames that the tables of a file describe.

    Raises:
        ConfigurationError: a table is not as it must be; the text names it.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        frames = TypeAdapter(dict[str, tuple[Frame, ...]]).validate_python(dict(tables))
    except ValidationError as error:
        found = error.errors()[0]
        name, number, *field = found["loc"]
        place = ", ".join([f"[[{name}.frames]] number {int(number) + 1}", *map(str, field)])
        raise ConfigurationError(f"{source}: {place}: {found['msg']}") from error
    for name, of_attribute in frames.items():
        for number, frame in enumerate(of_attribute):
            if complaint := _complaint(lexicon, frame):
                place = f"[[{name}.frames]] number {number + 1}"
                raise ConfigurationError(f"{source}: {place}: {complaint}")
    return frames


def _complaint(lexicon: Lexicon, frame: Frame) -> str | None:
    """What keeps a frame from ever reading anything; None where nothing does."""
    if frame.value not in lexicon.lists:
        use = "use a list of config/lexicon/slots.toml, such as date or count"
        return f"{frame.value!r} is not a kind of value; {use}"
    if not _forms(frame.words):
        return "words is empty; give the phrases that tell of the attribute"
    listed_in = (frame.words, frame.also, frame.beside, frame.link, frame.unless)
    for phrase in chain.from_iterable(map(_forms, listed_in)):
        if [word.folded for word in _words(phrase)] != phrase.casefold().split():
            return f"{phrase!r} stands in no clause; write plain words, commas between phrases"
    if many := next((form for form in _forms(frame.link) if " " in form), None):
        return f"link holds {many!r}; give single words"
    return None


class FrameReader:
    """Reads clauses by frames.

    Args:
        lexicon: the lists of words, kinds of values among them.
        source: the file of the frames, as an error names it.
        frames: by attribute, the tables of its frames.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        source: str,
        frames: Mapping[str, Sequence[Mapping[str, Any]]],
    ) -> None:
        by_name = _read(lexicon, source, frames)
        prepared = [_Prepared(name, frame) for name, listed in by_name.items() for frame in listed]
        self._kinds = {name: [frame.value for frame in listed] for name, listed in by_name.items()}
        self._telling = _Phrases((phrase, frame) for frame in prepared for phrase in frame.words)
        self._light = _Phrases((word, None) for word in lexicon.words("light"))

    def may_read(self, said: str) -> bool:
        """Whether a sentence holds words that tell of anything at all."""
        return any(self._telling.found(_words(said)))

    def value(self, attribute: str, said: str, start: int) -> str | None:
        """The value of the attribute that stands there, and nothing else up to the next mark."""
        for kind in self._kinds.get(attribute, ()):
            match = kind_of(kind).match(said, start)
            if match and is_whole(match) and said[match.end() : match.end() + 1] in ("", *".,;!"):
                return value_of(match)
        return None

    def read(self, said: str) -> list[Framed]:
        """What the frames find in a clause.

        Args:
            said: the clause to the end of its sentence, without short forms.
        """
        words = _words(said)
        told: dict[_Prepared, list[range]] = {}
        for frame, span in self._telling.found(words):
            if not frame.needs or any(need in said for need in frame.needs):
                told.setdefault(frame, []).append(span)
        if not told:
            return []
        clause = _Accounts(said, words, _numbers(self._light.found(words)))
        found = (clause.read(frame, spans) for frame, spans in told.items())
        return [framed for framed in found if framed]


_WORD = re.compile(r"[^\W_](?:[\w'+/.@&-]*[\w+])?")


def _words(said: str) -> list[_Word]:
    return [_Word(*match.span(), match[0].casefold()) for match in _WORD.finditer(said)]


_BREAK = re.compile(r"[;(]|,\s|\s-\s")
_MARKS = frozenset("$€£¥₹+([")
"""What stands right before a value and belongs to it, as in €20 or +49."""

_Old = tuple[tuple[int, int], re.Match[str]]
"""A value that holds no longer, with where the clause says so."""


class _Accounts:
    """A clause, whose words frames account for."""

    def __init__(
        self,
        said: str,
        words: Sequence[_Word],
        light: frozenset[int],
    ) -> None:
        self._said = said
        self._words = words
        self._light = light
        self._starts = [self._start(word) for word in words]
        self._matches: dict[tuple[str, int], re.Match[str] | None] = {}
        self._dropped = self._inside(
            match.span() for match in the_only("giving_way").finditer(said)
        )

    def read(self, frame: _Prepared, told: Sequence[range]) -> Framed | None:
        """What the frame finds, where nothing in the clause is left over."""
        also = [span for _, span in frame.also.found(self._words)]
        if frame.needs_also and not also:
            return None
        new, old = self._values(frame)
        if len({value_of(match).casefold() for match in new}) != 1:
            return None
        value, telling = new[0], frozenset(chain.from_iterable([*told, *also]))
        nearest = frozenset(chain.from_iterable([*told[:1], *also[:1]]))
        at = self._inside([value.span()])
        first, last = min(nearest | at), max(nearest | at)
        about = self._about(first)
        meant = telling.union(
            _numbers(frame.beside.found(self._words)),
            self._inside([value.span(), *(span for span, _ in old)]),
            self._dropped,
        )
        known = meant | self._light | (self._inside([about.span()]) if about else frozenset())
        if (
            not known.issuperset(range(last + 1))
            or self._is_broken(last, meant)
            or min(abs(here - there) for here in at for there in nearest) > _DISTANCE_MAX
            or not self._ends(value.end(), known)
            or not self._ends(self._words[last].end, known)
            or self._is_spoken_of(last)
            or self._is_denied(value, meant)
            or any(frame.unless.found(self._up_to_break(value)))
        ):
            return None
        return Framed(
            attribute=frame.attribute,
            value=value_of(value),
            old=next((value_of(match) for _, match in old), None) or replaced(value),
            about=about,
            weight=sum(self._words[number].end - self._words[number].start for number in telling),
        )

    def _values(self, frame: _Prepared) -> tuple[list[re.Match[str]], list[_Old]]:
        """The values of the frame's kind that hold, and those that do so no longer."""
        new: list[re.Match[str]] = []
        old: list[_Old] = []
        end = 0
        for number, start in enumerate(self._starts):
            if start < end or (frame.link and not self._is_linked(number, frame.link)):
                continue
            match = self._value(frame.value, start)
            if not match or not is_whole(match) or self._is_part(frame.value, number):
                continue
            end = match.end()
            if marker := the_only("given_way").search(self._said, 0, match.start()):
                old.append(((marker.start(), end), match))
            else:
                new.append(match)
        return new, old

    def _is_part(self, kind: str, number: int) -> bool:
        """Whether a number is no total, but what is added or taken away."""
        if kind not in listed("number_kind"):
            return False
        before = {word.folded for word in self._words[:number]}
        is_total = number and self._words[number - 1].folded in listed("total")
        return not (is_total or before.isdisjoint(listed("scaling")))

    def _up_to_break(self, value: re.Match[str]) -> Sequence[_Word]:
        """The words of the clause, as far as it speaks of one matter."""
        found = _BREAK.search(self._said, value.end())
        return self._words if not found else [w for w in self._words if w.start < found.start()]

    def _value(self, kind: str, start: int) -> re.Match[str] | None:
        """What looks like a value of the kind and begins there."""
        if (kind, start) not in self._matches:
            self._matches[kind, start] = kind_of(kind).match(self._said, start)
        return self._matches[kind, start]

    def _start(self, word: _Word) -> int:
        """Where a word begins with the mark before it, as in €20 or +49."""
        start = word.start
        while start and self._said[start - 1] in _MARKS:
            start -= 1
        return start

    def _is_linked(self, number: int, link: frozenset[str]) -> bool:
        while number and self._words[number - 1].folded in listed("determiner"):
            number -= 1
        return bool(number) and self._words[number - 1].folded in link

    def _inside(self, spans: Iterable[tuple[int, int]]) -> frozenset[int]:
        """The numbers of the words that lie in one of the spans."""
        return frozenset(
            number
            for start, end in spans
            for number, word in enumerate(self._words)
            if start <= word.start < end
        )

    def _about(self, first: int) -> re.Match[str] | None:
        """Whom the clause begins with, before the first word that counts."""
        if not first:
            return None
        limit = self._words[first].start
        found = (kind_of(kind).match(self._said, 0, limit) for kind in ("whoever", "whose"))
        return max((match for match in found if match), key=lambda match: match.end(), default=None)

    def _is_broken(self, last: int, meant: frozenset[int]) -> bool:
        """Whether what leads to the last word denies, tells of a past, or begins something else."""
        free = {n: self._words[n].folded for n in range(last + 1) if n not in meant}
        stopping = listed("breaking", "denying")
        if any(
            folded in stopping or (folded in listed("past") and not self._is_change(number + 1))
            for number, folded in free.items()
        ):
            return True
        breaks = _BREAK.finditer(self._said, 0, self._words[last].start)
        return any(not self._inside([(match.end(), match.end() + 1)]) & meant for match in breaks)

    def _is_change(self, number: int) -> bool:
        """Whether a word tells of a change, as in "was raised" and "had brought"."""
        folded = self._words[number].folded if number < len(self._words) else ""
        return folded.endswith("ed") or folded in listed("participle")

    def _is_denied(self, value: re.Match[str], meant: frozenset[int]) -> bool:
        """Whether what follows the value denies it, as "was never ours" does."""
        behind = [n for n, w in enumerate(self._up_to_break(value)) if w.start >= value.end()]
        return any(self._words[n].folded in listed("denying") for n in behind if n not in meant)

    def _ends(self, end: int, known: frozenset[int]) -> bool:
        """Whether what ends there is whole: no part of a name, and nothing is said of it."""
        behind = self._behind(end)
        if behind is None:
            return True
        folded = self._words[behind].folded
        if folded in ("and", "or"):
            return behind + 1 in self._light
        return behind in known or folded in listed("breaking")

    def _behind(self, end: int) -> int | None:
        """The number of the word behind; None where the clause ends there, or pauses."""
        found = next((n for n, w in enumerate(self._words) if w.start >= end), None)
        if found is None or self._said[end : self._words[found].start].strip():
            return None
        return found

    def _is_spoken_of(self, last: int) -> bool:
        """Whether something is said of what was named: "12 seats are broken"."""
        behind = self._behind(self._words[last].end)
        return behind is not None and self._words[behind].folded in listed("being")


def _numbers(found: Iterable[tuple[object, range]]) -> frozenset[int]:
    return frozenset(number for _, span in found for number in span)


def _forms(said: str) -> list[str]:
    """The phrases of a list, verbs in their regular forms."""
    phrases = filter(None, map(str.strip, said.replace("\n", ",").split(",")))
    return [
        form
        for phrase in phrases
        for form in _inflected(*phrase.replace("^", "~").partition("~"))
        if "^" not in phrase or not form.partition(" ")[0].endswith("ed")
    ]


def _inflected(verb: str, mark: str, rest: str) -> list[str]:
    if not mark or len(verb) < 3:
        return [verb] if verb else []
    if verb.endswith("e"):
        forms = [verb, f"{verb}s", f"{verb}d", f"{verb[:-1]}ing"]
    elif verb.endswith("y") and verb[-2] not in "aeou":
        forms = [verb, f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb}ing"]
    else:
        third = f"{verb}es" if verb.endswith(("s", "x", "z", "ch", "sh")) else f"{verb}s"
        stems = (verb, f"{verb}{verb[-1]}")  # "fail", and "plann" of "plan"
        forms = [verb, third, *(f"{stem}{end}" for stem in stems for end in ("ed", "ing"))]
    return [form + rest for form in forms]
