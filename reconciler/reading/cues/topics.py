"""Topics of a text, by an operator's own words: the topics that need a contact's consent.

Only the matching is here. The policy has the words of a topic, and the checks decide about a text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

from reconciler.errors import ConfigurationError
from reconciler.frozen import Pattern, Span, Strings, grouped
from reconciler.reading.cues.classification import one_line
from reconciler.reading.lexicon import Literals

_TERM = re.compile(r"(?=.*\w)(?:\*|[^\s*-]+\*?)(?:[ -](?:\*|[^\s*-]+\*?))*")
"""Words, each of which may end in an asterisk or be one; one of them at least says something."""

_IS_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
"""The beginning of a term in a script without spaces between words: it is searched within words."""

_OWNED = re.compile(r"\*|'s |s' |^(?:an?|her|his|my|our|the|their) ")
"""Signs that words name no place of their own, or are no plain name."""

_GAP = "[ -]"
_ANY_WORD = "[^ -]*[^ ,;:.!?-]"
_ANY_ENDING = r"[\w']*"


@dataclass(frozen=True)
class TopicTerms:
    """The words of one topic, in any case; only whole words if a script separates words.

    A space also matches a hyphen, ``word*`` any ending of the word, and a lone ``*`` any one word
    that no punctuation ends.

    Args:
        terms: words or phrases that say that a text is about the topic.
        exceptions: phrases within which a term does not count. A term that reaches beyond its
            phrase counts, and so does a second one outside of it.
        places: the possible endings of the name of a firm or place. Within such a name no term
            counts.

    Raises:
        ConfigurationError: a term or an exception is blank, or has an asterisk within a word.
    """

    terms: Strings
    exceptions: Strings = ()
    places: Strings = ()

    def __post_init__(self) -> None:
        for term in (*self.terms, *self.exceptions):
            if not _TERM.fullmatch(one_line(term)):
                raise ConfigurationError(
                    f"topics: {term!r} is not a term; write words, each of which may end with one "
                    "asterisk"
                )

    def find(self, folded: str, terms: Iterable[str], names: Iterable[str]) -> str | None:
        """Find the first of these terms that counts in a folded text, and not within a name."""
        spans = ((*span, term) for term in terms for span in _spans(_pattern(term), folded))
        excepted: list[Span] | None = None
        # Of two terms at one place the longer comes first: it says more.
        for start, end, term in sorted(spans, key=lambda span: (span[0], -len(span[2]))):
            if excepted is None:
                excepted = list(_spans(self._any_exception, folded)) if self.exceptions else []
                excepted += chain(*(_spans(_pattern(name), folded) for name in self._named(names)))
            if not any(first <= start and end <= last for first, last in excepted):
                return term
        return None

    @property
    def literals(self) -> Iterator[str]:
        """Return the literals of a text with a term, for each term; a space for each hyphen."""
        for term in self.terms:
            runs = one_line(term).replace("-", " ").split("*")
            yield max((run.strip() for run in reversed(runs)), key=len)

    def _named(self, names: Iterable[str]) -> Iterator[str]:
        """Find the terms that name a place: "Alder Quay day surgery", not "her day surgery"."""
        endings = tuple(f" {place}" for place in self.places)
        for name in map(one_line, names):
            if name.endswith(endings) and _OWNED.search(name) is None:
                yield name

    @cached_property
    def _any_exception(self) -> Pattern:
        return _any_of(self.exceptions)


class Topics:
    """Several topics, by name; a text is screened once for all of them.

    Args:
        terms: the words of each topic.
    """

    def __init__(self, terms: Mapping[str, TopicTerms]) -> None:
        self._terms = dict(terms)
        self._literals = Literals(
            (literal, (name, number))
            for name, terms in self._terms.items()
            for number, literal in enumerate(terms.literals)
        )

    def find(self, text: str, names: Collection[str] = ()) -> dict[str, str]:
        """Find the topics of a text in the given order, each with the term that shows it.

        Args:
            text: the text.
            names: the names in it; some may be firms or places.
        """
        folded = one_line(text)
        worth_trying = grouped(
            (name, self._terms[name].terms[number])
            for name, number in sorted(self._literals.held(folded.replace("-", " ")))
        )
        terms = {
            name: self._terms[name].find(folded, worth_trying[name], names)
            for name in self._terms
            if name in worth_trying
        }
        return {name: term for name, term in terms.items() if term is not None}


def _branch(term: str) -> str:
    words = re.split(_GAP, one_line(term))
    return _GAP.join(
        _ANY_WORD
        if word == "*"
        else re.escape(word.removesuffix("*")) + (_ANY_ENDING if word.endswith("*") else "")
        for word in words
    )


@lru_cache(maxsize=512)
def _pattern(term: str) -> Pattern:
    return _any_of((term,))


def _any_of(terms: Iterable[str]) -> Pattern:
    """Join all as one pattern, of a folded text; matches may overlap in their look-ahead.

    Of two terms at one place the longer is found: it says more. A gap and a word never match the
    same character, so no text can make the search go back and forth.
    """
    longest_first = sorted(terms, key=len, reverse=True)
    apart = [_branch(term) for term in longest_first if not _IS_UNSPACED.match(term)]
    within = [_branch(term) for term in longest_first if _IS_UNSPACED.match(term)]
    words = rf"(?<!\w)(?:{'|'.join(apart)})(?!\w)"
    branches = "|".join((*([words] if apart else ()), *within))
    return re.compile(rf"(?=({branches}))")


def _spans(pattern: Pattern, folded: str) -> Iterator[Span]:
    return (match.span(1) for match in pattern.finditer(folded))
