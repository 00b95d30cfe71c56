"""Every regular expression that the program tries on a text, and texts that keep each one busy.

Which there are is seen from outside: a process of its own loads all of the program with an ear on
``re`` and ``regex``. What would keep one busy follows from how it is built: before each part that
repeats stands what leads there, then the part many times, then an end that does not fit.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from re import _constants as codes, _parser as parser  # type: ignore[attr-defined]
from typing import Any

import regex

from reconciler.domain.records.candidates import EVIDENCE_LENGTH_MAX
from reconciler.domain.records.notes import TEXT_LENGTH_MAX
from reconciler.domain.sessions.explicit_statements import SENTENCE_LENGTH_MAX
from reconciler.reading.values.slot_reading import TEXT_LENGTH_MAX as SLOT_TEXT_LENGTH_MAX
from tests.fuzz.backtracking import Proof, prove

__all__ = ["SECONDS_MAX", "Pattern", "Pump", "every_pattern"]

SECONDS_MAX = 1.0
"""What one pattern may take for one text, of this process's time."""

_PROBES = 3
"""How many ways a set of letters is put into a text."""

_LETTERS_MAX = 12
_ENDS = ("", "\0", "!", " ")
_CLEAN_LENGTH_MAX = 8 * TEXT_LENGTH_MAX
"""How long a note gets in which tokens stand for what was taken out."""

_LENGTHS = {
    "reconciler.domain.values": SLOT_TEXT_LENGTH_MAX,
    "reconciler.domain.gate": _CLEAN_LENGTH_MAX,
    "reconciler.domain.gate.contacts_word": EVIDENCE_LENGTH_MAX,
    "reconciler.domain.gate.cleaning": EVIDENCE_LENGTH_MAX,
    "reconciler.reading.guard": _CLEAN_LENGTH_MAX,
    # Its lines are a turn's, which test_explicit_statements looks after; its cues see a sentence.
    "reconciler.domain.sessions.explicit_statements": SENTENCE_LENGTH_MAX,
    # What is shipped, or the operator's own.
    "reconciler.adapters.embedded_statements": 1_000,
    "reconciler.entrypoints": 1_000,
    "reconciler.queries": 1_000,
}
"""The longest text of a module's patterns, by the longest name that fits; else it is a turn's."""

_FLAGS_OF_BOTH = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE | re.ASCII


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression, of ``re`` or of ``regex``, and how it is used.

    Attributes:
        module: where it is defined.
        is_anchored: whether it is matched where a text begins, and looked for nowhere else.
    """

    library: str
    text: str
    flags: int
    module: str
    is_anchored: bool

    @property
    def length_max(self) -> int:
        """How long the texts are that it is tried on, at most."""
        fitting = [name for name in _LENGTHS if self.module.startswith(name)]
        return _LENGTHS[max(fitting, key=len)] if fitting else EVIDENCE_LENGTH_MAX

    @property
    def compiled(self) -> Any:
        """It, to search with."""
        return (re if self.library == "re" else regex).compile(self.text, self.flags)

    def proof(self) -> Proof:
        """How long it can be about the texts that it is tried on."""
        flags = self.flags & _FLAGS_OF_BOTH
        return prove(_in_words_of_re(self.text, self.flags), flags, self.length_max)

    @property
    def pumps(self) -> list[Pump]:
        """Texts that it may be long about."""
        return _pumps(self.text, self.flags)

    def seconds(self, text: str) -> float:
        """What it takes to find all that it finds in the text, as far as the bound."""

        def end(*_: object) -> None:
            raise _TooLongError

        compiled = self.compiled
        before = signal.signal(signal.SIGPROF, end)
        started = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, SECONDS_MAX * 1.5)
        try:
            if self.is_anchored:
                compiled.match(text)
            else:
                for _ in compiled.finditer(text):
                    pass
        except _TooLongError:
            pass
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
        return time.process_time() - started


class _TooLongError(BaseException):
    """A search took too long, and was ended."""


def every_pattern() -> list[Pattern]:
    """Those that the program compiles, its libraries for sensitive data among them."""
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


@cache
def _pumps(text: str, flags: int) -> list[Pump]:
    try:
        tree = parser.parse(_in_words_of_re(text, flags), flags & _FLAGS_OF_BOTH)
    except (re.error, RecursionError, OverflowError):
        tree = ()
    made: dict[Pump, None] = {}
    repeats = (*_repeats(tree, "", is_led=True), *_repeats(tree, "", is_led=False))
    for before, unit in repeats:
        made |= dict.fromkeys(Pump(before, unit, end) for end in _ENDS if unit)
    letters = _letters(tree)[:_LETTERS_MAX]
    pairs = [first + second for first, second in pairwise(letters)]
    made |= dict.fromkeys(Pump("", unit, "\0") for unit in (*letters, *pairs))
    return list(made)


def _in_words_of_re(text: str, flags: int) -> str:
    """The pattern without what ``re`` cannot read of ``regex``; what takes its place takes more."""
    takes_any_case = flags & re.IGNORECASE or text.startswith("(?i)")
    capital = r"[^\W\d_]" if takes_any_case else r"[^\W\d_a-z]"
    text = _CAPITAL.sub(lambda _: capital, text)
    return re.sub(r"\\K|\\[pP]\{[^}]*\}", lambda found: "" if found[0] == r"\K" else r"\w", text)


_CAPITAL = re.compile(r"(?:(?<=\(\?=)|(?<=\(\?<!\\w\)))\\p\{Lu\}")
"""A class of ``regex`` that stands in no set."""


def _repeats(tree: Any, before: str, *, is_led: bool) -> Iterator[tuple[str, str]]:
    """What stands before each part that repeats, and the part.

    Args:
        tree: the pattern.
        before: what stands before all of it.
        is_led: whether a text leads to a part with what the look-aheads before it ask for.
    """
    for code, about in tree:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            _, high, inner = about
            if high is codes.MAXREPEAT or high >= 10:
                for choice in range(_PROBES):
                    yield before, _example(inner, choice)
            yield from _repeats(inner, before, is_led=is_led)
        else:
            for inner in _inner(code, about):
                yield from _repeats(inner, before, is_led=is_led)
        if is_led and code is codes.ASSERT and about[0] > 0:
            before += _example(about[1], 0)
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
