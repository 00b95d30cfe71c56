"""The finder of personal numbers that their names announce, with words between or none.

``config/secret_rules/personal_numbers.toml`` has the names, in many languages, and what proves a
number: python-stdnum knows the check digits, the dates and the ranges of some fifty of them. A
number right after its name needs no proof, and is ``personal_data_finder``'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from reconciler.adapters.secret_rules import rules_of
from reconciler.sensitive_data import SensitiveKind, SensitiveSpan

_REACH = 72
"""So many characters after its name a number ends."""

_PIECE = re.compile(r"[0-9A-Za-z]+(?:[./-][0-9A-Za-z]+)*")
_BEGINS = re.compile(r".*\d|[A-Z]{3}")
_PIECES_MAX, _STARTS_MAX = 7, 9
_DIGITS_MIN = 5


@dataclass(frozen=True)
class _Numbers:
    """Numbers of one kind: what they are called, and what proves one."""

    kind: str
    labels: Sequence[str]
    checks: Sequence[str]
    shape: str = "(?!)"

    @property
    def pattern(self) -> re.Pattern[str]:
        """What they are called."""
        return re.compile(rf"(?<!\w)(?:{'|'.join(self.labels)})(?![^\W\d])", re.IGNORECASE)

    def proves(self, number: str) -> bool:
        """Whether it fits one of the checks, or the shape."""
        if re.fullmatch(self.shape, number):
            return True
        return any(_module(name).is_valid(number) for name in self.checks)


def find_named_numbers(text: str) -> Iterator[SensitiveSpan]:
    """Finds numbers of persons after their names, if their check digits are right."""
    if sum(map(str.isdigit, text)) < _DIGITS_MIN:
        return
    for numbers, pattern in _rules():
        for label in pattern.finditer(text):
            yield from _after(text, label.end(), numbers)


def _after(text: str, start: int, numbers: _Numbers) -> Iterator[SensitiveSpan]:
    """The first number that is proved, in as many of the next pieces as fit."""
    pieces = [*_PIECE.finditer(text, start, start + _REACH)]
    for at in range(min(len(pieces), _STARTS_MAX)):
        if not _BEGINS.match(pieces[at][0]):
            continue
        for end in range(min(len(pieces), at + _PIECES_MAX), at, -1):
            first, last = pieces[at].start(), pieces[end - 1].end()
            number = re.sub("[ ./-]", "", text[first:last]).upper()
            if sum(map(str.isdigit, number)) >= _DIGITS_MIN and numbers.proves(number):
                yield SensitiveSpan(first, last, SensitiveKind(numbers.kind))
                return


@cache
def _rules() -> Sequence[tuple[_Numbers, re.Pattern[str]]]:
    rules = rules_of("personal_numbers.toml", "numbers", _Numbers)
    return [(rule, rule.pattern) for rule in rules]


@cache
def _module(name: str) -> Any:
    return import_module(f"stdnum.{name}")
