"""Lexicons: words and cues, which are data under ``config/lexicon/``, a file for each subject.

This module reads such a file, writes out its shorthands, and screens a text, so that few cues are
tried on it. The module that uses a cue decides its meaning. Files are read, and cues compiled, only
when they are needed.

A file has one table ``[lists]`` of words that a space or the end of a line parts, with ``_`` for a
space within a word, and lists of cues: ``[[name]]`` begins a cue of the list ``name``. A word and a
pattern are regular expressions, in which ``<name>`` stands for any of the words of that list; the
lines of a pattern are put together without what indents them. So no line of a pattern and no word
may begin or end with a space that counts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from reconciler.errors import ConfigurationError
from reconciler.frozen import Match, Pattern, Strings, StringSet, Values, frozen, grouped, in_order
from reconciler.reading.needed_literals import needed_literals
from reconciler.resources import read_config, resource_path

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")


@frozen
class Cue:
    """A pattern that shows something.

    Attributes:
        pattern: the regular expression, as the file has it.
        kind: the kind of its evidence, if the list has cues of several kinds.
    """

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012  read by pydantic

    pattern: str
    kind: str = ""


@in_order
class Lexicon:
    """One file's words and cues.

    Attributes:
        source: the file's name for an error.
        lists: by name, the words of a list.
        cues: by name, the cues of a list.
    """

    source: str
    lists: Mapping[str, Strings]
    cues: Mapping[str, tuple[Cue, ...]]

    def cues_of(self, name: str) -> tuple[Cue, ...]:
        """Return the cues of a list, in the file's order.

        Raises:
            ConfigurationError: the file has no such list.
        """
        if name not in self.cues:
            raise ConfigurationError(
                f"{self.source}: there is no [[{name}]]; add one, or correct its spelling"
            )
        return self.cues[name]

    def words(self, name: str) -> Strings:
        """Return the words of a list, in the file's order.

        Raises:
            ConfigurationError: the file has no such list.
        """
        if name not in self.lists:
            raise ConfigurationError(f"{self.source}: [lists] lacks {name}; add it")
        return self.lists[name]

    def word_set(self, *names: str) -> StringSet:
        """Return the words of some lists as a set."""
        return frozenset().union(*map(self.words, names))

    def by_word(self, name: str) -> dict[str, str]:
        """Return the meanings of a list's words: a line's last word, by the words before it."""
        pairs = (line.rpartition(" ") for line in self.words(name))
        return {word: meant for word, _, meant in pairs}

    def written_out(self, pattern: str) -> str:
        """Return the pattern with the words in place of each ``<name>``; sets stay as they are."""
        return _NAMED.sub(
            lambda match: self.any_of(match["name"]) if match["name"] else match[0], pattern
        )

    def any_of(self, name: str) -> str:
        """Return a pattern for any of the words of a list."""
        return self.written_out(any_of(self.words(name)))


_NAMED = re.compile(r"\\.|\[(?:\\.|[^\]\\])*+(?:\]|\\?\Z)|(?<!\?P)<(?P<name>[a-z_]+)>")
"""A set that nothing closes goes on to the end, so that its end is looked for only once."""


def any_of(words: Strings | list[str]) -> str:
    """Return a pattern for any of the words, the first that fits."""
    return f"(?:{'|'.join(words)})"


@cache
def lexicon(name: str) -> Lexicon:
    """Return the lexicon of that name, read once.

    Raises:
        ConfigurationError: the file cannot be read, or is no lexicon; the text names the place.
    """
    path = resource_path("config") / "lexicon" / f"{name}.toml"
    source = f"config/lexicon/{name}.toml"
    try:
        tables = tomllib.loads(read_config(path, source))
    except ValueError as error:
        raise ConfigurationError(f"{source} cannot be read: {error}; correct it") from error
    return read_lexicon(source, tables)


@cache
def cues_of(name: str, *names: str, flags: int = 0) -> Cues:
    """Return the cues of a lexicon in these of its lists; in all of them if none is named."""
    return Cues(lexicon(name), names=names or None, flags=flags)


@cache
def _reader(of: type[T]) -> TypeAdapter[T]:
    """Return the reader of tables of this type; made when the first file is read."""
    from pydantic import TypeAdapter

    return TypeAdapter(of)


def read_lexicon(source: str, tables: Values) -> Lexicon:
    """Make the lexicon that the tables of a file describe.

    Raises:
        ConfigurationError: a table has a wrong form; the text names it.
    """
    from pydantic import ValidationError

    cues = dict(tables)
    try:
        read = {"lists": cues.pop("lists", {})}
        texts = _reader(dict[str, dict[str, str]]).validate_python(read)["lists"]
        made = _reader(dict[str, tuple[Cue, ...]]).validate_python(cues)
    except ValidationError as error:
        fault = error.errors()[0]
        raise ConfigurationError(f"{source}: {_place(*fault['loc'])}: {fault['msg']}") from error
    lists = {
        name: tuple(_SPACE_OF_A_WORD.sub(" ", word) for word in _WORD.findall(text))
        for name, text in texts.items()
    }
    return Lexicon(source, lists, made)


_WORD = re.compile(r"[^ \n]+")
_SPACE_OF_A_WORD = re.compile("_(?![a-z_]*>)")
"""Not within a ``<name>``."""


def _place(name: object, number: object = None, field: object = None, *_: object) -> str:
    """Describe the place of a fault in a file: ``[[order]] number 3, pattern``."""
    if name == "lists":
        return f"[lists] {number}"
    place = f"[[{name}]]" if number is None else f"[[{name}]] number {int(str(number)) + 1}"
    return place if field is None else f"{place}, {field}"


def joined(pattern: str) -> str:
    """Return a cue's pattern in one line."""
    return "".join(line.strip() for line in pattern.splitlines())


class Literals(Generic[T]):
    """The items that a text may hold, by literals that it then must hold; one search finds all.

    Args:
        literals: each with its item, in the letters of the given texts.
    """

    def __init__(self, literals: Iterable[tuple[str, T]]) -> None:
        import re2

        told = grouped(literals)
        self._told = list(map(set, told.values()))
        self._literals = re2.Set.SearchSet()
        for literal in told:
            self._literals.Add(re2.escape(literal))
        self._literals.Compile()

    def held(self, text: str) -> set[T]:
        """Return the items of the literals in the text."""
        found = self._literals.Match(text.encode("utf-8", "surrogatepass")) or ()
        return set().union(*(self._told[place] for place in found))


class Cues:
    """The cues of a lexicon, which are tried only on a text that may hold one of their words.

    A cue is compiled when a text first may hold it; most are never compiled.

    Args:
        lexicon: the lexicon of the cues.
        spelled: makes the expression from a list's name and a written-out pattern.
        names: the lists that are asked for together; None for all of the lexicon.
        flags: flags of the ``re`` module, for all expressions.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        spelled: Callable[[str, str], str] | None = None,
        names: Sequence[str] | None = None,
        *,
        flags: int = 0,
    ) -> None:
        self._lexicon = lexicon
        self._spelled = spelled or (lambda _, pattern: pattern)
        self._flags = flags
        self._patterns: dict[_Place, Pattern] = {}
        self._places = [
            (name, number)
            for name in sorted(lexicon.cues if names is None else names)
            for number in range(len(lexicon.cues_of(name)))
        ]

    @cached_property
    def _screen(self) -> tuple[frozenset[int], Literals[int]]:
        """Return the cues for every text, and the literals that the others need."""
        needs = [needed_literals(self._written(*place)) for place in self._places]
        always = frozenset(at for at, literals in enumerate(needs) if not literals)
        literals = ((literal, at) for at, listed in enumerate(needs) for literal in listed)
        return always, Literals(literals)

    def read(self, text: str) -> Held:
        """Read a text, to ask for the cues that it holds."""
        always, literals = self._screen
        held = sorted(always | literals.held(text.casefold()))
        return Held(self, text, grouped(self._places[at] for at in held))

    def cue(self, name: str, number: int) -> Cue:
        """Return a cue, by its list and its number there."""
        return self._lexicon.cues[name][number]

    def _written(self, name: str, number: int) -> str:
        """Return a cue's expression, with the words in it."""
        written = self._lexicon.written_out(joined(self.cue(name, number).pattern))
        return self._spelled(name, written)

    def pattern(self, name: str, number: int = 0) -> Pattern:
        """Return the compiled pattern of a cue, by its list and its number there.

        Raises:
            ConfigurationError: the cue is not a regular expression.
        """
        place = name, number
        if place not in self._patterns:
            written = self._written(name, number)
            try:
                self._patterns[place] = re.compile(written, self._flags)
            except (re.error, OverflowError, RecursionError, FutureWarning) as error:
                raise ConfigurationError(
                    f"{self._lexicon.source}: {_place(name, number)}: the pattern is not a regular "
                    f"expression: {error}; correct it"
                ) from error
        return self._patterns[place]


_Place = tuple[str, int]
"""A list's name, and a cue's number in it."""


@in_order
class Held:
    """A text, to ask for the cues that it holds."""

    _cues: Cues
    text: str
    _numbers: Mapping[str, list[int]]

    @property
    def names(self) -> Iterable[str]:
        """Return the lists of which the text may hold a cue."""
        return self._numbers.keys()

    def worth_trying(self, name: str) -> Iterator[tuple[Cue, Pattern]]:
        """Return the cues of a list that the text may hold, in order, each compiled at its use."""
        for number in self._numbers.get(name, ()):
            yield self._cues.cue(name, number), self._cues.pattern(name, number)

    def matches(self, name: str) -> Iterator[tuple[Cue, Match]]:
        """Find the cues of a list that the text holds, each at its first place."""
        for cue, pattern in self.worth_trying(name):
            if match := pattern.search(self.text):
                yield cue, match

    def first(self, name: str) -> Match | None:
        """Find the place of the first cue of a list in the text; None if it holds none."""
        return next((match for _, match in self.matches(name)), None)
