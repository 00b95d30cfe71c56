"""A reading: the parts of a text that the finders look at, made once for each text.

Words with the gaps between them, and their meaning: numbers with the counted things, denied and
ended parts, names, and the subject. Code that compares two texts must never be here.

A word of change may report no change: "Has never left Siemens" and "claims to have sold the van"
hold such a word. Whether it reports a real change is read here, from the words of its clause. The
changed thing and its fact are found elsewhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import dropwhile, groupby, islice, pairwise, takewhile
from typing import NamedTuple

from reconciler.frozen import Strings, StringSet
from reconciler.reading.canonical import canonical_text, remembered, without_marks
from reconciler.reading.findings import Difference
from reconciler.reading.guard.tokens import (
    SENTENCE_ENDS,
    TOKENS_MAX,
    Token,
    Tokens,
    function_words,
    opposites,
    pattern_of,
    tokens_of,
    words_of,
)

_BEHIND_A_NOT = ("any", "anymore")
"""The beginning of an end that needs a denial before it: "does not smoke any more"."""

_ADVERBS = ("no", *_BEHIND_A_NOT)


def is_end_stated(text: str, start: int, cue: str) -> bool:
    """True if a word of an end, such as "sold" or "no longer", reports an end.

    Args:
        text: in small letters.
        start: the place where the word begins.
        cue: the word, or words.
    """
    before, first = _clause_before(text[:start]), cue.split()[0]
    is_adverb = first in _ADVERBS
    if first not in _BEHIND_A_NOT and _is_denied(before):
        return False
    return not _is_governed(before, is_verb=not is_adverb)


def is_change_stated(text: str, start: int, cue: str) -> bool:
    """True if a word of change, such as "moved" or "now", reports a change.

    A denial before a "now" is the new state. A denial right before a verb, or anywhere before a
    verb with an ending, is about that verb. The arguments are those of ``is_end_stated``.
    """
    if pattern_of("cessation").fullmatch(cue):
        return is_end_stated(text, start, cue)
    before, is_verb = _clause_before(text[:start]), cue.split()[0].endswith("ed")
    if _is_denied(before if is_verb else _right_before(before)):
        return False
    return not _is_governed(before, is_verb=is_verb)


def is_denied_before(text: str, start: int) -> bool:
    """True if a denial comes before this place in its clause."""
    return _is_denied(_clause_before(text[:start]))


@remembered
def _clause_before(text: str) -> tuple[Token, ...]:
    """Return the last words of a text, back to a mark or conjunction, which comes first."""
    tokens = tokens_of(text)
    for at in range(len(tokens) - 1, -1, -1):
        if _parts_clauses(tokens[at]):
            return tuple(tokens[at:])
    return tuple(tokens)


def _parts_clauses(token: Token) -> bool:
    is_mark = token.value in words_of("clause_mark", "supposition")
    return is_mark and token.kind in ("mark", "function")


def _right_before(tokens: Tokens) -> list[Token]:
    """Return the words between the last word of content and the end: "has not yet been"."""
    light = words_of("light")
    near = takewhile(lambda each: each.kind == "function" or each.value in light, reversed(tokens))
    return list(near)


def _is_denied(tokens: Tokens) -> bool:
    known = words_of("negation", "short_of")
    return any(token.text.casefold() in known for token in tokens)


def _is_governed(tokens: Tokens, *, is_verb: bool) -> bool:
    """True if the next words are wished, planned, claimed, asked for or supposed.

    A noun that is spelt like such a verb governs nothing: "the plan was cancelled". "Wants no calls
    any more" and "will no longer call" state facts.
    """
    if is_verb and any(token.text.casefold() in words_of("doubt") for token in tokens):
        return True
    governing = words_of("governing") | (words_of("wish") if is_verb else frozenset())
    return any(
        token.value in governing
        and token.text.casefold() not in words_of("rewording")
        and after.value not in words_of("be", "auxiliary")
        for token, after in pairwise(tokens)
    )


VALUE_KINDS = {
    "number": Difference.NUMBER,
    "ordinal": Difference.NUMBER,
    "day": Difference.DATE,
    "month": Difference.DATE,
    "weekday": Difference.DATE,
    "year": Difference.DATE,
    "time": Difference.DATE,
    "id": Difference.IDENTIFIER,
    "ratio": Difference.NUMBER,
}
"""The kind of a difference of values, by token kind."""

_NOT_FINITE = ("be", "been", "being")
"""Words that make the word before them no name: "Prefers being called"."""

_PHRASE_LENGTH_MAX = 2
"""The number of words of a denied or ended phrase that are searched in the other text."""

_REACH_ENDS = ("and", "but", "while", "because", "since")
_APOSTROPHES = ("'", "’")
_ADVERB = re.compile("ly$|^good$")
"""An adverb, also in "for good"."""

_NO_DENIAL = frozenset({"only", "longer"})

_AGO = ("ago", "later", "earlier", "away")

_ORDINAL_MIN = 2
"""The ordinal above which ordinals count: a fifth project is the last of five; a first or a second
may be any."""

_REACH = {"number": 2, "weekday": 2, "time": 2}
"""The number of words before a date, or a number without a noun, that name its subject.

Weekdays and times describe a habit ("gym at 7:00 on Mondays"). Days, months and years date an
event, of which there may be many, and count nothing.
"""


@cache
def _transparent() -> StringSet:
    """Return tokens that may be in a gap without changing its kind."""
    return words_of("article", "quote") | (words_of("possessive") - {"s"})


class Word(NamedTuple):
    """A token that carries content, and its link to the one before.

    ``gap`` says what is between the two: "" for nothing, "list", "of", "own" (a possessive),
    "hyphen", "is", "phrase" (a preposition) or "other"; ``governor`` is the preposition right
    before, or "".
    """

    kind: str
    stem: str
    text: str
    gap: str
    governor: str
    sentence: int


class Count(NamedTuple):
    """A value, the thing that it counts or dates, and the rest of its sentence.

    ``things`` are stems of nouns, ``context`` the sentence's other stems that name its subject,
    ``names`` the stems of its names, and ``days`` the days that it names.
    """

    kind: str
    value: str
    text: str
    things: Strings
    context: StringSet
    names: StringSet
    days: StringSet


class Clause(NamedTuple):
    """Words between two marks or conjunctions: their stems in order.

    ``is_plain`` if it neither denies, supposes nor ends anything.
    """

    stems: Strings
    is_plain: bool


class Denial(NamedTuple):
    """A denied or ended phrase: the marker with the word after it, and the phrase's stems.

    ``reach`` are the stems of all words up to the next mark or "and", whatever is said of them.
    ``bounds`` are those of the number after "before" or "than", which is not denied: "no flight
    before 9:00". ``hours`` are the bounds, weekdays and times: at any other hour nothing is denied.
    "No other calls" denies no known call, so nothing that it could name. A phrase after "if" or
    "when" ``is_supposed``: it denies nothing.
    """

    text: str
    phrase: Strings = ()
    reach: Strings = ()
    bounds: StringSet = frozenset()
    hours: StringSet = frozenset()
    is_supposed: bool = False


@dataclass(frozen=True)
class Reading:
    """A text as the finders see it; each part is read at its first use.

    Attributes:
        plain: the text in its canonical form.
    """

    plain: str

    @cached_property
    def canonical(self) -> str:
        """Return the text as it is compared for equality."""
        return self.plain.casefold()

    @cached_property
    def tokens(self) -> Tokens:
        """Return its pieces."""
        return tokens_of(self.plain)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """Return its words of content, in order."""
        return tuple(content_words(self.tokens))

    @cached_property
    def stems(self) -> StringSet:
        """Return the words' stems, which are compared."""
        return frozenset(word.stem for word in self.words)

    @cached_property
    def spelt(self) -> dict[str, Strings]:
        """Return its words, and two or three in a row without the gap: "e-mail" is "email".

        Each comes with the words that it is made of.
        """
        texts = tuple(folded(word.text) for word in self.words)
        spans = (texts[at : at + count] for at in range(len(texts)) for count in (1, 2, 3))
        return {"".join(pieces): pieces for pieces in spans}

    @cached_property
    def values(self) -> dict[str, dict[str, str]]:
        """Return by token kind each number, date or id, as the text has it."""
        values: dict[str, dict[str, str]] = {}
        for word in self.words:
            if word.kind in VALUE_KINDS:
                values.setdefault(word.kind, {})[word.stem] = word.text
        return values

    @cached_property
    def counts(self) -> tuple[Count, ...]:
        """Return the values that count or date something."""
        return tuple(_counts(self.words, self.names))

    @cached_property
    def currencies(self) -> StringSet:
        """Return the codes of the currencies that it names."""
        return frozenset(token.value for token in self.tokens if token.kind == "currency")

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """Return the pieces of its sentences, from one mark or conjunction to the next."""
        return tuple(_clauses(self.tokens))

    @cached_property
    def negated(self) -> tuple[Denial, ...]:
        """Return the denied parts."""
        return tuple(_negated(self.tokens))

    @cached_property
    def ceased(self) -> tuple[Denial, ...]:
        """Return the parts that the text calls ended."""
        return tuple(_ceased(self.canonical))

    @cached_property
    def sides(self) -> dict[int, dict[int, str]]:
        """Return the sides that the text names by closed class, and its words for them."""
        sides: dict[int, dict[int, str]] = {}
        for token in self.tokens:
            if place := opposites().get(token.text.lower()):
                sides.setdefault(place[0], {})[place[1]] = token.text
        return sides

    @cached_property
    def names(self) -> dict[str, str]:
        """Return by folded form the capitalised words that do not only open a sentence."""
        return _names(self.tokens)

    @cached_property
    def degrees(self) -> dict[str, str]:
        """Return the words that say how much or how often, as the text has them."""
        degrees = words_of("degree")
        return {token.value: token.text for token in self.tokens if token.text.lower() in degrees}

    @cached_property
    def signs(self) -> Counter[str]:
        """Return its symbols with a meaning, each as often as the text has it."""
        return Counter(token.value for token in self.tokens if token.kind == "sign")

    @cached_property
    def subject(self) -> str:
        """Return the relative or colleague that the sentence is about, or "".

        Only "her" may come before it.

        Of "his wife's sister" that is the sister.
        """
        opening = [token.text.casefold() for token in self.tokens[:8]]
        for at, word in enumerate(opening[:4]):
            if word in words_of("relative"):
                return (
                    _owned(opening, at) if words_of("possessive").intersection(opening[:at]) else ""
                )
            if word in function_words() and word not in words_of("possessive"):
                return ""
        return ""


@remembered
def read(text: str) -> Reading:
    """Read any string; a text read lately is not read again."""
    return Reading(canonical_text(text))


@remembered
def lowered(text: str) -> str:
    """Return the canonical text without capitals, in which phrases are searched."""
    return canonical_text(text).casefold()


@remembered
def says(cue: str, text: str) -> bool:
    """True if a pattern of this name occurs in the text."""
    return pattern_of(cue).search(lowered(text)) is not None


@remembered
def stems_of(text: str) -> StringSet:
    """Return stems of a few words, such as a value or an attribute's name, for comparing."""
    return frozenset(token.value for token in tokens_of(text) if token.kind != "mark")


def are_apart(here: Collection[str], there: Collection[str]) -> bool:
    """True if both name something, and nothing that the other names."""
    return bool(here and there) and set(here).isdisjoint(there)


def folded(word: str) -> str:
    """Return a name as it is compared: without capitals and accents, which many leave out."""
    return without_marks(word.casefold())


def content_words(tokens: Iterable[Token]) -> Iterator[Word]:
    """Return the words of content in a text's pieces, each with the gap before it."""
    between: list[str] = []
    sentence = 0
    for token in tokens:
        if token.kind in ("function", "mark"):
            between.append(token.value)
            sentence += token.value in SENTENCE_ENDS
        elif token.kind != "currency":
            if between in (["no"], ["#"]) and token.kind in ("number", "year"):
                between = []  # "order no. 5512", "order #5512"
            yield Word(token.kind, token.value, token.text, *_gap(between), sentence)
            between = []


def _gap(between: Sequence[str]) -> tuple[str, str]:
    """Return the kind of gap of these words and marks, and the governor of the next word."""
    rest = [word for word in between if word not in _transparent()]
    if not rest:
        return "", ""
    if rest == ["of"]:
        return "of", ""
    if rest[-1] in words_of("preposition"):
        return "phrase", rest[-1]
    if words_of("list_mark").issuperset(rest):
        # "Ana, the manager" tells who Ana is; "Ana and the manager" is two.
        return ("other" if rest == [","] and between[-1] in words_of("article") else "list"), ""
    if rest == ["s"]:
        return "own", ""
    if rest == ["-"]:
        return "hyphen", ""
    return ("is" if rest[-1] in words_of("be") else "other"), ""


def _counts(words: Sequence[Word], names: Collection[str]) -> Iterator[Count]:
    if all(word.kind == "word" for word in words):
        return
    for _, group in groupby(words, key=lambda word: word.sentence):
        sentence = list(group)
        stems = frozenset(word.stem for word in sentence if word.kind == "word") - words_of("light")
        days = frozenset(word.stem for word in sentence if word.kind == "day")
        named = frozenset(word.stem for word in sentence if folded(word.text) in names)
        for at, word in enumerate(sentence):
            kind, value = _counted(sentence, at, names)
            if kind:
                nouns = _nouns(sentence, at) if kind == "number" else []
                things = nouns or _words_before(sentence, at, kind)
                yield Count(
                    kind=kind,
                    value=value,
                    text=word.text,
                    things=tuple(things),
                    context=stems.difference(things),
                    names=named,
                    days=days,
                )


def _counted(words: Sequence[Word], at: int, names: Collection[str]) -> tuple[str, str]:
    """Return kind and value of a word that counts or dates something; "" for any other."""
    word = words[at]
    if word.kind in ("number", "one"):
        return ("", "") if _is_name(words, at, names) else ("number", word.stem)
    if word.kind == "ordinal":
        value = word.stem.removesuffix("th")
        return ("number", value) if int(value) > _ORDINAL_MIN else ("", "")
    return (word.kind, word.stem) if word.kind in _REACH else ("", "")


def _is_name(words: Sequence[Word], at: int, names: Collection[str]) -> bool:
    """True if a number only names something ("invoice 7", "a 10K run") or belongs to one event.

    "3 days ago" and "a 3-day trip" belong to events: there may be any number of those.
    """
    here = words[at]
    if at and words[at - 1].text.lower() in words_of("payment"):
        return True
    after = words[at + 1 : at + 3]
    if (len(after) > 1 and after[1].text in _AGO) or (
        after and after[0].gap == "hyphen" and after[0].stem in words_of("measure")
    ):
        return True
    if not at or here.gap:
        return False
    before = words[at - 1]
    is_product = folded(before.text) in names and here.kind == "number"
    is_numbered = before.text.lower() in words_of("numbered")
    return (is_product or is_numbered) and before.stem not in words_of("position")


def _nouns(words: Sequence[Word], at: int) -> list[str]:
    """Return the nouns that a number counts: those after it ("3 red cars", "3 of Ana's cars")."""
    if at and words[at - 1].stem in words_of("position"):
        return [words[at - 1].stem]  # "page 200"
    after = list(words[at + 1 : at + 5])
    while after and after[0].kind == "number" and words[at].kind == "number":
        del after[0]  # "30-45 minutes"
    is_own_number = words[at].kind == "number"
    if after and (after[0].gap == "hyphen" or (after[0].gap == "of" and is_own_number)):
        after[0] = after[0]._replace(gap="")  # "a 6-person group", "3 of Ana's cars"
    is_beside = takewhile(lambda word: word.kind == "word" and word.gap in ("", "own"), after[:3])
    nouns = [word.stem for word in is_beside]
    measures = words_of("measure")
    if not nouns or nouns[0] not in measures:
        return nouns
    # "2 hours a day" is of another kind than "2 hours".
    return [" ".join(nouns[:2])] if len(nouns) > 1 and nouns[1] in measures else nouns[:1]


def _words_before(words: Sequence[Word], at: int, kind: str) -> list[str]:
    """Return the words before a date, or a number without a noun, which name its subject.

    "One" without a noun stands for a person or thing ("one of them", "the red one").
    """
    reach = 0 if words[at].kind == "one" else _REACH[kind]
    before = [word.stem for word in words[max(at - 4, 0) : at] if word.kind == "word"]
    return before[-reach:] if reach else []


def _clauses(tokens: Tokens) -> Iterator[Clause]:
    """Return the pieces of the sentences, from one mark or conjunction to the next."""
    stems: list[str] = []
    is_plain = True
    for token in (*tokens, Token("mark", ".", ".")):
        if _parts_clauses(token):
            if stems:
                yield Clause(tuple(stems), is_plain)
            stems, is_plain = [], token.value not in words_of("supposition")
        elif token.value in words_of("negation"):
            is_plain = False
        elif token.kind == "word" or token.value == "been":
            stems.append(token.value)


def _negated(tokens: Tokens) -> Iterator[Denial]:
    is_supposed = False
    for at, token in enumerate(tokens):
        if _parts_clauses(token):
            is_supposed = token.value in words_of("supposition")
        elif token.kind == "function" and token.value in words_of("negation"):
            after = tokens[at + 1 : at + 10]
            behind = [word.text.lower() for word in after[:2]]
            if "other" in behind:
                yield Denial(f"{token.text} other")
            # "Not only", "not the only" affirm; "no longer" is a cessation, "no longer than" none.
            elif _NO_DENIAL.isdisjoint(behind) or behind == ["longer", "than"]:
                denied = _denial(token.text, after)
                reach = denied.reach if (end := _up_to_an_end(after)) is None else end
                yield denied._replace(is_supposed=is_supposed, reach=reach)


def _ceased(canonical: str) -> Iterator[Denial]:
    for match in islice(pattern_of("cessation").finditer(canonical), TOKENS_MAX):
        if not is_end_stated(canonical, match.start(), match.group()):
            continue
        behind = tokens_of(canonical[match.end() : match.end() + 60])
        # "Left without having sold the van" says of no van that it is over.
        after = list(takewhile(lambda token: token.value != "without", behind))
        yield _denial(match.group(), after)._replace(bounds=frozenset())


def _up_to_an_end(after: Tokens) -> Strings | None:
    """Return the reach of a denial before an end that it denies; None if it denies none.

    Nothing behind that is denied: "has never left Siemens" denies no Siemens.
    """
    text = " ".join(token.text.casefold() for token in after)
    match = pattern_of("cessation").search(text)
    if match is None or match.group().startswith("any"):
        return None
    return _denial("", after[: text.count(" ", 0, match.start())]).reach


def _denial(marker: str, after: Tokens) -> Denial:
    """Return the denial after a marker such as "not": the text's words and the denied phrase."""
    after = _without_owners(after)
    first = next((word for word in after[:4] if word.kind == "word"), None)
    marks = words_of("clause_mark", "supposition")
    phrase = takewhile(
        lambda word: word.kind == "word" or word.value not in marks,
        after,
    )
    stems = [
        word.value
        for word in phrase
        if (
            word.kind == "word"
            and not (word.value in words_of("light") and _ADVERB.search(word.text))
        )
        or word.value == "been"
    ]
    denies = first is not None and first.value not in words_of("attitude")
    denies = denies and not words_of("light").issuperset(stems)
    reach = list(
        takewhile(lambda word: word.kind != "mark" and word.value not in _REACH_ENDS, after)
    )
    bounds = frozenset(_bounds(reach))
    return Denial(
        f"{marker} {first.text}" if first else marker,
        tuple(stems[:_PHRASE_LENGTH_MAX]) if denies else (),
        tuple(word.value for word in reach if word.kind != "function"),
        bounds,
        bounds.union(word.value for word in reach if word.kind in ("weekday", "time")),
    )


def _without_owners(tokens: Tokens) -> list[Token]:
    """Return tokens without owners: a statement about "Anna's cakes" is about the cakes."""
    return [
        token
        for at, token in enumerate(tokens)
        if not _owner_before(tokens, at) and not _owner_before(tokens, at + 1)
    ]


def _owner_before(tokens: Tokens, at: int) -> str:
    """Return the stem of the owner before an apostrophe here, or "": "Anna's", "Siemens' own"."""
    if not 0 < at < len(tokens) - 1 or tokens[at].text not in _APOSTROPHES:
        return ""
    owner, after = tokens[at - 1], tokens[at + 1]
    is_plural = owner.text.endswith("s") and after.kind != "mark"
    return owner.value if after.text == "s" or is_plural else ""


def _bounds(reach: Tokens) -> Iterator[str]:
    """Return a number, date or time after a word of comparison, and its unit."""
    for at, token in enumerate(reach[1:], start=1):
        if token.kind in VALUE_KINDS and reach[at - 1].text.lower() in words_of("comparing"):
            yield from (word.value for word in reach[at : at + 2] if word.kind != "function")


def _owned(words: Sequence[str], at: int) -> str:
    """Return the last relative of a row of relatives: the son of "wife's sister's son"."""
    after = list(dropwhile(lambda word: word in words_of("quote") or word == "s", words[at + 1 :]))
    is_owner = len(after) < len(words) - at - 1
    if is_owner and after and after[0] in words_of("relative"):
        return _owned(after, 0)
    return words[at]


def _names(tokens: Tokens) -> dict[str, str]:
    names = {}
    opens_sentence = True
    for token, after in pairwise([*tokens, Token("mark", "", "")]):
        is_capital = token.kind in ("word", "one") and any(map(str.isupper, token.text))
        if is_capital and (not opens_sentence or _is_named_before(token, after)):
            names[folded(token.text)] = token.text
        opens_sentence = token.value in words_of("sentence_mark") if token.kind == "mark" else False
    return names


def _is_named_before(token: Token, after: Token) -> bool:
    """True if a word that opens a sentence is a name: "Acme is", "Ana pays"; not "Likes tea"."""
    return (
        (len(token.text) > 1 and token.text.isupper())
        or (after.value in words_of("be", "auxiliary") and after.value not in _NOT_FINITE)
        or after.text in words_of("quote")
        or (after.text.islower() and may_be_verb(after.text) and not may_be_verb(token.text))
    )


def may_be_verb(word: str) -> bool:
    """True if a word ends like a verb: "eats", "moved", but also "James"."""
    return word.endswith(("s", "ed", "ing")) and not word.endswith("ss")
