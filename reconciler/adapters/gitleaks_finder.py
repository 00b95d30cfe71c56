"""The finder of tokens by their shapes: gitleaks' rules, and ours for vendors that these lack.

The rules are data (``config/secret_rules/``, with sources and licence) and are run by RE2, for
which they were written: it never backtracks, whatever the text. Names of tokens and sentences about
them are not looked for here.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from reconciler.adapters.secret_rules import rules_of
from reconciler.errors import ConfigurationError
from reconciler.sensitive_data import SensitiveKind, SensitiveSpan

if TYPE_CHECKING:
    from reconciler.lexicon import Literals

_FILES = ("gitleaks.toml", "vendors.toml")
_BY_A_VENDORS_NAME = r"[\w.-]{0,50}?"
"""The beginning of a rule that finds any token after a vendor's name."""

_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class _TokenRule:
    """One kind of token.

    Attributes:
        pattern: finds it; the first non-empty group is the token, else the whole match.
        entropy: bits a character that it has at least: "x" times forty is a placeholder.
        allowed: the forms of placeholders.
        source: where the shape is published; of gitleaks' rules, the head of their file says it.
    """

    id: str
    pattern: str
    keywords: Sequence[str]
    entropy: float = 0.0
    allowed: Sequence[str] = ()
    source: str = ""

    def find(self, text: str) -> Iterator[SensitiveSpan]:
        """The tokens in a text that holds one of the keywords."""
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


def find_vendors_tokens(text: str) -> Iterator[SensitiveSpan]:
    """Finds vendors' keys and tokens; every span is a SECRET.

    A rule is compiled for the first text that holds one of its keywords.
    """
    rules, literals = _rules()
    for number in literals.held(text.casefold()):
        yield from rules[number].find(text)


@cache
def _rules() -> tuple[Sequence[_TokenRule], Literals[int]]:
    from reconciler.lexicon import Literals  # a process that only reads a store needs none

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
    """Bits a character, as gitleaks counts them."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
