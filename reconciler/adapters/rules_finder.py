"""The finders that run the rules in ``config/secret_rules/``; the files name sources and licence.

Tokens are found by their shapes, with gitleaks' rules, and with ours for vendors that gitleaks
lacks. RE2 runs them, because gitleaks' rules were written for it, and it never backtracks. Names of
tokens and sentences about them are not looked for here.

Personal numbers are found after their names, with or without words between.
``personal_numbers.toml`` has the names, in many languages, and the check of each number:
python-stdnum knows the check digits, dates and ranges of about fifty numbers. A number right after
its name needs no check; ``personal_data_finder`` finds it.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from reconciler.errors import ConfigurationError
from reconciler.frozen import Pattern, in_order
from reconciler.reading.sensitive_data import SensitiveKind, SensitiveSpan, SensitiveSpans
from reconciler.resources import read_config, resource_path

if TYPE_CHECKING:
    from reconciler.reading.lexicon import Literals


_FILES = ("gitleaks.toml", "vendors.toml")
_BY_A_VENDORS_NAME = r"[\w.-]{0,50}?"
"""How a rule begins that finds any token after a vendor's name."""

_DIGIT = re.compile(r"\d")


@in_order
class _TokenRule:
    """One kind of token.

    Attributes:
        pattern: finds it; the first non-empty group is the token, else the whole match.
        entropy: the least entropy, in bits a character: forty times "x" is a placeholder.
        allowed: the forms of placeholders.
        source: where the shape is published; for gitleaks' rules, see the head of their file.
    """

    id: str
    pattern: str
    keywords: Sequence[str]
    entropy: float = 0.0
    allowed: Sequence[str] = ()
    source: str = ""

    def find(self, text: str) -> SensitiveSpans:
        """Tokens in a text that holds one of the keywords."""
        for match in _compiled(self.pattern).finditer(text):
            group = next((at for at, part in enumerate(match.groups(), 1) if part), 0)
            start, end = match.span(group)
            if self._is_token(text[start:end]):
                yield SensitiveSpan(start, end, SensitiveKind.SECRET)

    def _is_token(self, value: str) -> bool:
        # A word is as long as some tokens; every other one of them has a digit.
        if _BY_A_VENDORS_NAME in self.pattern and not _DIGIT.search(value):
            return False
        if any(_compiled(allowed).search(value) for allowed in self.allowed):
            return False
        return _entropy(value) >= self.entropy


def find_vendors_tokens(text: str) -> SensitiveSpans:
    """Finds vendors' keys and tokens; every span is a SECRET.

    A rule is compiled for the first text that holds one of its keywords.
    """
    rules, literals = _rules()
    for number in literals.held(text.casefold()):
        yield from rules[number].find(text)


@cache
def _rules() -> tuple[Sequence[_TokenRule], Literals[int]]:
    from reconciler.reading.lexicon import Literals  # a process that only reads a store needs none

    rules = [rule for file in _FILES for rule in rules_of(file, "rules", _TokenRule)]
    literals = ((word, at) for at, rule in enumerate(rules) for word in rule.keywords)
    return rules, Literals(literals)


@cache
def _compiled(pattern: str) -> Any:
    import re2

    try:
        return re2.compile(pattern)
    except re2.error as error:
        raise ConfigurationError(f"RE2 cannot read {pattern!r} of a rule: {error}") from error


def _entropy(value: str) -> float:
    """The entropy of a text in bits a character, as gitleaks counts it."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)


T = TypeVar("T")


def rules_of(file: str, table: str, made: Callable[..., T]) -> list[T]:
    """Rules of a file, made of the fields of each table.

    Raises:
        ConfigurationError: the file cannot be read, or a field has a wrong value.
    """
    source = f"config/secret_rules/{file}"
    text = read_config(resource_path("config") / "secret_rules" / file, source)
    try:
        return [made(**fields) for fields in tomllib.loads(text)[table]]
    except (ValueError, KeyError, TypeError) as error:  # what is no expression is a ValueError too
        raise ConfigurationError(f"{source} cannot be read: {error}; correct it") from error


_REACH = 72
"""A number must end within so many characters after its name."""

_PIECE = re.compile(r"[0-9A-Za-z]+(?:[./-][0-9A-Za-z]+)*")
_BEGINS = re.compile(r".*\d|[A-Z]{3}")
_PIECES_MAX, _STARTS_MAX = 7, 9
_DIGITS_MIN = 5


@in_order
class _Numbers:
    """Numbers of one kind: their names, and how a number is checked."""

    kind: str
    labels: Sequence[str]
    checks: Sequence[str]
    shape: str = "(?!)"

    @property
    def pattern(self) -> Pattern:
        """The pattern of their names."""
        return re.compile(rf"(?<!\w)(?:{'|'.join(self.labels)})(?![^\W\d])", re.IGNORECASE)

    def proves(self, number: str) -> bool:
        """True if the text passes one of the checks, or has the shape."""
        if re.fullmatch(self.shape, number):
            return True
        return any(stdnum_module(name).is_valid(number) for name in self.checks)


def find_named_numbers(text: str) -> SensitiveSpans:
    """Finds numbers of persons after their names, if their check digits are right."""
    if sum(map(str.isdigit, text)) < _DIGITS_MIN:
        return
    for numbers, pattern in _number_rules():
        for label in pattern.finditer(text):
            yield from _after(text, label.end(), numbers)


def _after(text: str, start: int, numbers: _Numbers) -> SensitiveSpans:
    """The first number that passes a check, joined from as many of the next pieces as fit."""
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
def _number_rules() -> Sequence[tuple[_Numbers, Pattern]]:
    rules = rules_of("personal_numbers.toml", "numbers", _Numbers)
    return [(rule, rule.pattern) for rule in rules]


@cache
def stdnum_module(name: str) -> Any:
    """A module of python-stdnum, by its name there."""
    return import_module(f"stdnum.{name}")
