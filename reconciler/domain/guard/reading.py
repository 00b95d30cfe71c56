"""A reading: what the finders look at in a text, made once for each.

Words with the gaps between them, and what these say: numbers and what they count, what is denied or
has ended, names, whom it is about. Nothing that looks at two texts may ever live here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice, pairwise, takewhile
from typing import NamedTuple

from reconciler.domain.guard.tokens import TOKENS_MAX, Token, tokens_of
from reconciler.domain.guard.vocabulary import vocabulary
from reconciler.domain.records.findings import Difference
from reconciler.domain.records.notes import canonical_text

__all__ = ["VALUE_KINDS", "Counts", "Reading", "Word", "read"]

VALUE_KINDS = {
    "number": Difference.NUMBER,
    "ordinal": Difference.NUMBER,
    "day": Difference.DATE,
    "month": Difference.DATE,
    "weekday": Difference.DATE,
    "year": Difference.DATE,
    "time": Difference.DATE,
    "id": Difference.IDENTIFIER,
}
"""By token kind, what a difference of its values is."""

_NOT_FINITE = ("be", "been", "being")
"""What makes no name of the word before it: "Prefers being called"."""

Counts = dict[str, dict[str, dict[str, str]]]
"""By token kind, by the stem of what is counted or dated, its values and how the text has them."""

_DATE_REACH = {"day": 1, "month": 1, "weekday": 2, "time": 2}
"""How many words before a date say what it dates. Weekdays and times tell a habit ("gym at 7:00 on
Mondays"), days an event, of which there are many; a year dates whatever stands near, so nothing."""


@cache
def _transparent() -> frozenset[str]:
    """What may stand in a gap without making it one of another kind."""
    known = vocabulary()
    return known.articles | known.quotes | (known.possessives - {"s"})


class Word(NamedTuple):
    """A token that carries content, and how it hangs on the one before.

    ``gap`` says what stands between the two: "" for nothing, "list", "of", "own" (a possessive),
    "is", "phrase" (a preposition) or "other"; ``governor`` is the preposition right before, or "".
    """

    kind: str
    stem: str
    text: str
    gap: str
    governor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the finders look at.

    Attributes:
        canonical: the text as it is compared for equality.
        letters: its letters and digits without a gap, to look names up in.
        initials: the first letter of each word, to look abbreviations up in.
        words: its words of content, in order.
        stems: what is compared of the words.
        values: by token kind, each number, date or id, and how the text has it.
        counts: by token kind and by what is counted or dated, its values.
        currencies: the codes of the currencies that it names.
        negated: by stem, what is denied, as the text has it.
        ceased: by stem, what is said to have ended, as the text has it.
        sides: by closed class, the sides that the text names, and with which word.
        names: by folded form, the capitalised words that do not only open a sentence.
        degrees: the words that say how much or how often, as the text has them.
        subject: the relative or colleague whom the sentence is about, or "".
    """

    canonical: str
    letters: str
    initials: str
    words: tuple[Word, ...]
    stems: frozenset[str]
    values: dict[str, dict[str, str]]
    counts: Counts
    currencies: frozenset[str]
    negated: dict[str, str]
    ceased: dict[str, str]
    sides: dict[int, dict[int, str]]
    names: dict[str, str]
    degrees: dict[str, str]
    subject: str


@lru_cache(maxsize=1024)
def read(text: str) -> Reading:
    """The reading of a text, whatever the string; a text read lately is not read again."""
    plain = canonical_text(text)
    canonical = plain.casefold()
    tokens = tokens_of(plain)
    words = tuple(_words(tokens))
    known = vocabulary()
    return Reading(
        canonical=canonical,
        letters="".join(filter(str.isalnum, canonical)),
        initials="".join(word.text[0] for word in words).casefold(),
        words=words,
        stems=frozenset(word.stem for word in words),
        values=_values(words),
        counts=_counts(words),
        currencies=frozenset(token.value for token in tokens if token.kind == "currency"),
        negated=dict(_negated(tokens)),
        ceased=dict(_ceased(canonical)),
        sides=_sides(tokens),
        names=_names(tokens),
        degrees={each.value: each.text for each in tokens if each.text.lower() in known.degrees},
        subject=_subject(tokens),
    )


def _words(tokens: Iterable[Token]) -> Iterator[Word]:
    between: list[str] = []
    for token in tokens:
        if token.kind in ("function", "mark"):
            between.append(token.value)
        elif token.kind != "currency":
            yield Word(token.kind, token.value, token.text, *_gap(between))
            between = []


def _gap(between: Sequence[str]) -> tuple[str, str]:
    """The kind of gap that these words and marks make, and the governor of the word after it."""
    rest = [each for each in between if each not in _transparent()]
    if not rest:
        return "", ""
    if rest == ["of"]:
        return "of", ""
    if rest[-1] in vocabulary().prepositions:
        return "phrase", rest[-1]
    if vocabulary().list_marks.issuperset(rest):
        # "Ana, the manager" tells who Ana is; "Ana and the manager" is two.
        return ("other" if rest == [","] and between[-1] in vocabulary().articles else "list"), ""
    if rest == ["s"]:
        return "own", ""
    return ("is" if rest[-1] in vocabulary().be else "other"), ""


def _values(words: Iterable[Word]) -> dict[str, dict[str, str]]:
    values: dict[str, dict[str, str]] = defaultdict(dict)
    for word in words:
        if word.kind in VALUE_KINDS:
            values[word.kind][word.stem] = word.text
    return values


def _counts(words: Sequence[Word]) -> Counts:
    counts: Counts = {}
    for at, word in enumerate(words):
        if word.kind != "word":
            kind = "number" if word.kind == "one" else word.kind
            for thing in _things(words, at):
                counts.setdefault(kind, {}).setdefault(thing, {})[word.stem] = word.text
    return counts


def _things(words: Sequence[Word], at: int) -> list[str]:
    """What the number counts or the date dates: the nouns right after it, else the words before.

    A unit is counted in its context. "One" counts only what follows it at once ("one dog"); else it
    stands for somebody or something ("one of them", "the red one").
    """
    kind = words[at].kind
    before = [each.stem for each in words[max(at - 4, 0) : at] if each.kind == "word"]
    if kind not in ("number", "one"):
        return before[-_DATE_REACH[kind] :] if kind in _DATE_REACH else []
    nouns = [each.stem for each in takewhile(_is_noun_beside, words[at + 1 : at + 4])]
    if not nouns:
        return before[-2:] if kind == "number" else []
    if nouns[0] not in vocabulary().measures:
        return nouns
    after = [each.stem for each in words[at + 2 : at + 5] if each.kind == "word"]
    return [f"{nouns[0]} {stem}" for stem in before + after]


def _is_noun_beside(word: Word) -> bool:
    return word.kind == "word" and not word.gap


def _negated(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    for at, token in enumerate(tokens):
        if token.kind == "function" and token.value in vocabulary().negations:
            after = tokens[at + 1 : at + 5]
            # "Not only" affirms; "no longer" is a cessation.
            if not after or after[0].text.lower() not in ("only", "longer"):
                yield _with_word_after(token.text, after)


def _ceased(canonical: str) -> Iterator[tuple[str, str]]:
    for match in islice(vocabulary().cessation.finditer(canonical), TOKENS_MAX):
        after = tokens_of(canonical[match.end() : match.end() + 40])
        yield _with_word_after(match.group(), after)


def _with_word_after(marker: str, after: Iterable[Token]) -> tuple[str, str]:
    """The stem that a marker such as "not" speaks of, and the two as the text has them."""
    word = next((each for each in after if each.kind == "word"), None)
    return (word.value, f"{marker} {word.text}") if word else (marker, marker)


def _sides(tokens: Iterable[Token]) -> dict[int, dict[int, str]]:
    sides: dict[int, dict[int, str]] = defaultdict(dict)
    for token in tokens:
        place = vocabulary().sides.get(token.text.lower())
        if place:
            sides[place[0]][place[1]] = token.text
    return sides


def _names(tokens: Sequence[Token]) -> dict[str, str]:
    names = {}
    opens_sentence = True
    for token, after in pairwise([*tokens, Token("mark", "", "")]):
        # A word that opens a sentence is a name before an auxiliary: "Acme is", not "Likes tea".
        if (
            token.kind in ("word", "one")
            and token.text[0].isupper()
            and (
                not opens_sentence
                or (after.value in vocabulary().auxiliaries and after.value not in _NOT_FINITE)
                or after.text in vocabulary().quotes
            )
        ):
            names[token.text.casefold()] = token.text
        opens_sentence = (
            token.value in vocabulary().sentence_marks if token.kind == "mark" else False
        )
    return names


def _subject(tokens: Sequence[Token]) -> str:
    """The relative that the text is about: one with a possessive, and nothing else before."""
    opening = [token.text.casefold() for token in tokens[:4]]
    for at, word in enumerate(opening):
        if word in vocabulary().relatives:
            return word if vocabulary().possessives.intersection(opening[:at]) else ""
        if word in vocabulary().function_words and word not in vocabulary().possessives:
            return ""
    return ""
