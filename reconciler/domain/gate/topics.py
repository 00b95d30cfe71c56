"""What a text is about, by an operator's own words: the topics that need a contact's consent.

Only the matching lives here. Which words a topic has, and what is done with a text that is about
one, never does: the former is the policy's, the latter the checks'.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from reconciler.errors import ConfigurationError
from reconciler.lexicon import Literals

__all__ = ["TopicTerms", "Topics"]

_TERM = re.compile(r"(?=.*\w)(?:\*|[^\s*-]+\*?)(?:[ -](?:\*|[^\s*-]+\*?))*")
"""Words, each of which may end in an asterisk or be one; one of them at least says something."""

_GAP = "[ -]"
_ANY_WORD = "[^ -]*[^ ,;:.!?-]"
_ANY_ENDING = r"[\w']*"


@dataclass(frozen=True)
class TopicTerms:
    """The words of one topic, in any case, whole words only.

    A space also matches a hyphen, ``word*`` any ending of the word, and a lone ``*`` any one word
    that no punctuation ends.

    Args:
        terms: words or phrases that say that a text is about the topic.
        exceptions: phrases within which a term does not count. A term that reaches beyond its
            phrase counts, and so does one that stands a second time outside of it.

    Raises:
        ConfigurationError: a term or an exception is blank, or has an asterisk within a word.
    """

    terms: tuple[str, ...]
    exceptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for term in (*self.terms, *self.exceptions):
            if not _TERM.fullmatch(_folded(term)):
                raise ConfigurationError(
                    f"topics: {term!r} is no term; write words, each with at most an asterisk "
                    "at its end"
                )

    def find(self, text: str) -> str | None:
        """The first term that counts in the text, as it was given; None where none does."""
        return self.find_in(_folded(text))

    def find_in(self, folded: str) -> str | None:
        """The same in a text that is folded already."""
        excepted: list[tuple[int, int]] | None = None
        for start, end in _spans(self._any_term, folded):
            if excepted is None:
                excepted = list(_spans(self._any_exception, folded)) if self.exceptions else []
            if not any(first <= start and end <= last for first, last in excepted):
                return self._term_at(folded, start)
        return None

    def _term_at(self, folded: str, start: int) -> str:
        """Which term it was: compiled only now, and only those that begin so, as it is rare."""
        return next(
            term
            for term in _longest_first(self.terms)
            if _folded(term)[0] in ("*", folded[start])
            and re.compile(_branch(term) + r"(?!\w)").match(folded, start)
        )

    @property
    def literals(self) -> Iterator[str]:
        """What a text about the topic holds one of, where a space stands for each hyphen."""
        for term in self.terms:
            runs = _folded(term).replace("-", " ").split("*")
            yield max((each.strip() for each in reversed(runs)), key=len)

    @cached_property
    def _any_term(self) -> re.Pattern[str]:
        return _any_of(self.terms)

    @cached_property
    def _any_exception(self) -> re.Pattern[str]:
        return _any_of(self.exceptions)


class Topics:
    """Several topics, by name; a text is screened once for all of them.

    Args:
        terms: the words of each topic.
    """

    def __init__(self, terms: Mapping[str, TopicTerms]) -> None:
        self._terms = dict(terms)
        self._literals = Literals(
            (literal, name) for name in self._terms for literal in self._terms[name].literals
        )

    def find(self, text: str) -> dict[str, str]:
        """By topic that the text is about, in the given order, the term that says so."""
        folded = _folded(text)
        worth_trying = self._literals.held(folded.replace("-", " "))
        if not worth_trying:
            return {}
        found = {
            name: terms.find_in(folded)
            for name, terms in self._terms.items()
            if name in worth_trying
        }
        return {name: term for name, term in found.items() if term is not None}


def _folded(text: str) -> str:
    return " ".join(text.replace("’", "'").casefold().split())


def _longest_first(terms: Iterable[str]) -> list[str]:
    """So that of two terms at one place the longer is found: it says more."""
    return sorted(terms, key=len, reverse=True)


def _branch(term: str) -> str:
    words = re.split(_GAP, _folded(term))
    return _GAP.join(
        _ANY_WORD if word == "*" else re.escape(word.removesuffix("*")) + _ending(word)
        for word in words
    )


def _ending(word: str) -> str:
    return _ANY_ENDING if word.endswith("*") else ""


def _any_of(terms: Iterable[str]) -> re.Pattern[str]:
    """All of them as one pattern; what it looks ahead at may overlap.

    The text is folded, so the pattern has no flags, and the branches stand by their first letter:
    both let a place at which nothing begins be passed over quickly. A gap and a word never match
    the same character, so no text can make the search go back and forth.
    """
    by_initial: dict[str, list[str]] = {}
    for branch in map(_branch, _longest_first(terms)):
        initial = branch[0] if branch[0].isalnum() else ""
        by_initial.setdefault(initial, []).append(branch.removeprefix(initial))
    branches = "|".join(f"{initial}(?:{'|'.join(by)})" for initial, by in by_initial.items())
    return re.compile(rf"(?<!\w)(?=((?:{branches})(?!\w)))")


def _spans(pattern: re.Pattern[str], folded: str) -> Iterator[tuple[int, int]]:
    return (found.span(1) for found in pattern.finditer(folded))
