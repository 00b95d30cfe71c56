"""Every regular expression that the program tries on a text, and texts that keep each one busy.

Which there are is seen from outside: a process of its own loads all of the program with an ear on
``re`` and ``regex``. What would keep one busy follows from how it is built: before each part that
repeats stands what leads there, then the part many times, then an end that does not fit.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from re import _constants as codes, _parser as parser  # type: ignore[attr-defined]
from typing import Any

import regex

__all__ = ["Pattern", "Pump", "every_pattern"]

_PROBES = 3
"""How many ways a set of letters is put into a text."""

_LETTERS_MAX = 12
_ENDS = ("", "\0", "!", " ")
_FLAGS_OF_BOTH = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE | re.ASCII


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression, of ``re`` or of ``regex``, and how it is used.

    Attributes:
        module: whose it is.
        is_anchored: whether it is matched where a text begins, and looked for nowhere else.
    """

    library: str
    text: str
    flags: int
    module: str
    is_anchored: bool

    @property
    def compiled(self) -> Any:
        """It, to search with."""
        return (re if self.library == "re" else regex).compile(self.text, self.flags)

    @property
    def pumps(self) -> list[Pump]:
        """Texts that it may be long about."""
        return _pumps(self.text, self.flags)


def every_pattern() -> list[Pattern]:
    """Those that the program compiles, its libraries for sensitive data among it."""
    ended = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.listening"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return [Pattern(*each) for each in json.loads(ended.stdout)]


# Texts


@dataclass(frozen=True, slots=True)
class Pump:
    """A text of any length: what leads to a part that repeats, the part, and an unfit end."""

    before: str
    unit: str
    after: str

    def text(self, length: int) -> str:
        """The text that is so long."""
        times = max((length - len(self.before) - len(self.after)) // len(self.unit), 1)
        return f"{self.before}{self.unit * times}{self.after}"[:length]

    def __str__(self) -> str:
        return f"{self.before[:60]!r} + {self.unit[:40]!r} * n + {self.after!r}"


def _pumps(text: str, flags: int) -> list[Pump]:
    try:
        tree = parser.parse(_without_k(text), flags & _FLAGS_OF_BOTH)
    except (re.error, RecursionError, OverflowError):
        tree = ()
    made: dict[Pump, None] = {}
    for before, unit in _repeats(tree, ""):
        made |= dict.fromkeys(Pump(before, unit, end) for end in _ENDS if unit)
    letters = _letters(tree)[:_LETTERS_MAX]
    pairs = [first + second for first, second in pairwise(letters)]
    made |= dict.fromkeys(Pump("", unit, "\0") for unit in (*letters, *pairs))
    return list(made)


def _without_k(text: str) -> str:
    """The pattern without what ``re`` cannot read of ``regex``: the words are the same."""
    return re.sub(r"\\K|\\[pP]\{[^}]*\}", lambda found: "" if found[0] == r"\K" else r"\\w", text)


def _repeats(tree: Any, before: str) -> Iterator[tuple[str, str]]:
    for code, about in tree:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            _, high, inner = about
            if high is codes.MAXREPEAT or high >= 10:
                for choice in range(_PROBES):
                    yield before, _example(inner, choice)
            yield from _repeats(inner, before)
        else:
            for inner in _inner(code, about):
                yield from _repeats(inner, before)
        before += _example([(code, about)], 0)


def _inner(code: Any, about: Any) -> Iterator[Any]:
    """The patterns inside a part."""
    if code is codes.SUBPATTERN:
        yield about[-1]
    elif code is codes.ATOMIC_GROUP:
        yield about
    elif code is codes.BRANCH:
        yield from about[1]
    elif code in (codes.ASSERT, codes.ASSERT_NOT):
        yield about[1]
    elif code is codes.GROUPREF_EXISTS:
        yield from (each for each in about[1:] if each is not None)


def _example(tree: Any, choice: int) -> str:
    """A short text that the pattern fits."""
    return "".join(_of_one(code, about, choice) for code, about in tree)


def _of_one(code: Any, about: Any, choice: int) -> str:
    if code is codes.LITERAL:
        return chr(about)
    if code is codes.NOT_LITERAL:
        return "a" if about != ord("a") else "b"
    if code is codes.ANY:
        return "a. "[choice % 3]
    if code is codes.IN:
        found = _members(about)
        return found[choice % len(found)] if found else "a"
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        low, _, inner = about
        return _example(inner, choice) * min(max(low, 1 if choice else low), 30)
    if code is codes.BRANCH:
        return _example(about[1][choice % len(about[1])], choice)
    if code in (codes.SUBPATTERN, codes.ATOMIC_GROUP):
        return "".join(_example(inner, choice) for inner in _inner(code, about))
    return ""


_OF_CATEGORY = {
    codes.CATEGORY_SPACE: " \n\t",
    codes.CATEGORY_NOT_SPACE: "a1.",
    codes.CATEGORY_DIGIT: "1",
    codes.CATEGORY_NOT_DIGIT: "a ",
    codes.CATEGORY_WORD: "a1_",
    codes.CATEGORY_NOT_WORD: " .-",
}


def _members(about: Any) -> list[str]:
    """Some of the letters that a set holds."""
    found: list[str] = []
    is_negated = any(code is codes.NEGATE for code, _ in about)
    for code, what in about:
        if code is codes.LITERAL:
            found.append(chr(what))
        elif code is codes.RANGE:
            found.append(chr(what[0]))
        elif code is codes.CATEGORY:
            found += _OF_CATEGORY[what]
    if is_negated:
        return [each for each in "a1 .-'\"(x\n" if each not in found]
    return found


def _letters(tree: Any) -> list[str]:
    """The letters that the pattern knows, each once, and what most patterns pass over."""
    found: dict[str, None] = {}

    def walk(inner: Any) -> None:
        for code, about in inner:
            if code in (codes.LITERAL, codes.IN):
                found.update(dict.fromkeys(_of_one(code, about, choice) for choice in range(2)))
            elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
                walk(about[2])
            else:
                for each in _inner(code, about):
                    walk(each)

    walk(tree)
    return list(dict.fromkeys((" ", "a", "1", "\n", *found)))
