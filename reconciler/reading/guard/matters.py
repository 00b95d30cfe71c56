"""Reads a text about its slot's value: whether the text denies it, and for which matter it holds.

A slot has only a subject and an attribute. Only the words show that "her budget for the ERP
project" and "her budget for the CRM rollout" are two budgets, and that "never worked at Globex"
names no employer. Nothing here compares values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from reconciler.reading.canonical import remembered
from reconciler.reading.guard.differences import LABELLED
from reconciler.reading.guard.reading import Reading, Word, are_apart, folded, read, stems_of
from reconciler.reading.guard.tokens import Token, Tokens, pattern_of, stem_of, tokens_of, words_of

_SHORT = 2
"""Up to so many words, a clause that names a value must hold all of them; of longer values most."""

_MOST = 0.6

_BETWEEN_MAX = 7
"""The most words between a thing and the word for its end."""

_BEGINNING = 5
"""The number of first letters that the forms of a word share: "allergic" and "allergy"."""

_DATED = ("id", "month", "year")
"""Kinds of words that distinguish matters, besides names: "the budget for 2027"."""


def denies(reading: Reading, value: Reading) -> bool:
    """True if the text denies the value, or says that it has ended.

    "Does not work at Nordlys and is at Globex" denies Nordlys: a denial ends at a name before the
    value, or at an "and". "Manages Sorrel House, not Sorrel Court" does not deny Sorrel House: it
    names the whole before it denies a part of the name. A bound ("no later than") denies nothing,
    nor does "if none is free".
    """
    if value.negated or value.ceased:
        return False  # "not married" is a value of its own
    names = {stem_of(name) for name in reading.names} - value.stems
    is_bounded = not words_of("comparing").isdisjoint(token.value for token in value.tokens)
    is_told = any(each.is_plain and value.stems <= {*each.stems} for each in reading.clauses)
    for denial in (*reading.negated, *reading.ceased):
        spared = frozenset() if is_bounded else denial.bounds
        if denial.is_supposed or (is_told and not value.stems <= {*denial.reach}):
            continue
        for stem in denial.reach:
            if stem in value.stems and stem not in spared:
                return True
            if stem in names:
                break
    return False


def is_over(text: str, value: str, attribute: str = "") -> bool:
    """True if the text says that the value has ended, at any place where it names it.

    "The Silver plan has ended", "sold the Volvo", "a lift is no longer needed". A limit such as "no
    long walks" ends when the text lifts it. The clause that names the value last decides: "the
    trial is over and the Gold plan has started" ends no Gold. "Rosa is not the assistant any more"
    ends the value by naming the attribute.
    """
    words = tokens_of(value)
    clause, stems = _last_naming(text, words)
    if clause is None:
        return False
    if any(word.value in words_of("negation") for word in words):
        return clause.lifts()
    noun = stems_of(attribute.replace("_", " "))
    return clause.ended(stems) is not None or clause.takes_away(stems, noun)


def is_over_itself(text: str, value: str, known: Collection[str]) -> bool:
    """True if the text ends the value itself, and not a part of it.

    "Sold the Volvo" ends the Volvo; "the contract with Orbis has ended" ends no job at Orbis.
    ``known`` are the stems of what another text says of the value.
    """
    clause, stems = _last_naming(text, tokens_of(value))
    said = clause.ended(stems) if clause else None
    light = words_of("light")
    return said is not None and all(
        word.value in stems or word.value in known or word.value in light
        for word in said
        if word.kind == "word"
    )


def is_lifted(text: str, value: str) -> bool:
    """True if the text lifts the limit that the value names: "may eat nuts again"."""
    clause, _ = _last_naming(text, tokens_of(value))
    return clause is not None and clause.lifts()


def is_plainly_denied(text: str, name: str, *named: str) -> bool:
    """True if a clause denies something plainly, and speaks of nothing else.

    "Has no nut allergy" does. "Has never been tested for a nut allergy" and "is not sure that she
    is allergic to nuts" leave it open.

    Args:
        text: the clause, which denies something.
        name: the attribute's name; its forms begin alike: "allergic", "allergy".
        named: the value, and its subject.
    """
    reading = read(text)
    cues = (
        cue.group()
        for of_cue in ("change", "cessation")
        for cue in pattern_of(of_cue).finditer(reading.canonical)
    )
    aside = stems_of(" ".join((name, *named, *cues)))
    beginnings = tuple(stem[:_BEGINNING] for stem in stems_of(name) if len(stem) >= _BEGINNING)
    is_plain = all(
        word.kind != "word"
        or word.stem in aside
        or (word.stem in words_of("light") and word.stem not in words_of("attitude"))
        or folded(word.text) in reading.names
        or word.stem.startswith(beginnings)
        for word in reading.words
    )
    said = [token.text.casefold() for token in reading.tokens]
    denied = next((at for at, word in enumerate(said) if word in words_of("negation")), len(said))
    open_words = words_of("doubt", "supposition")
    return (
        is_plain
        and open_words.isdisjoint(said)
        and words_of("nominative").isdisjoint(said[denied:])
    )


def tells_of_end(text: str) -> bool:
    """True if a clause of the text may say that something has ended, or that a limit is lifted."""
    cues = ("ended_behind", "ended_before", "is_no_more", "lifted")
    return any(
        pattern_of(cue).search(clause.text) for clause in _stating_clauses(text) for cue in cues
    )


class _Clause(NamedTuple):
    """The words of a piece of a text between two marks or conjunctions."""

    tokens: tuple[Token, ...]

    @property
    def text(self) -> str:
        return " ".join(token.text.casefold() for token in self.tokens)

    def names(self, stems: Collection[str]) -> bool:
        """True if it names the value with these stems: a short value needs all of them."""
        named = len({token.value for token in self.tokens}.intersection(stems))
        return named == len(stems) or (len(stems) > _SHORT and named >= _MOST * len(stems))

    def lifts(self) -> bool:
        """True if it says that a limit has gone: not "cannot eat nuts again"."""
        text = self.text
        denying = words_of("negation", "attitude")
        for match in pattern_of("lifted").finditer(text):
            words = text[: match.start()].split()
            said = [] if match.group().startswith("no ") else match.group().split()
            if denying.isdisjoint([*words, *said]):
                return True
        return False

    def ended(self, stems: Collection[str]) -> tuple[Token, ...] | None:
        """Return the words for the ended thing, if the stems name it or a part of it; else None."""
        text = self.text
        first, last = self._place(stems)
        for match in pattern_of("ended_behind").finditer(text):
            start = text.count(" ", 0, match.start())
            if first < start and self._reaches(last + 1, start):
                return self.tokens[:start]
        for match in pattern_of("ended_before").finditer(text):
            end = text.count(" ", 0, match.end()) + 1
            if end <= first and self._reaches(end, first, words_of("turn")):
                return self.tokens[end : last + 1]
        return None

    def takes_away(self, stems: Collection[str], noun: Collection[str]) -> bool:
        """True if it denies, or ends, what the noun says of the thing with these stems."""
        match = pattern_of("is_no_more").search(self.text)
        if match is None:
            return False
        start = self.text.count(" ", 0, match.start())
        behind = {token.value for token in self.tokens[start:]}
        return self._place(stems)[1] < start and not behind.isdisjoint(noun)

    def _place(self, stems: Collection[str]) -> tuple[int, int]:
        places = [at for at, token in enumerate(self.tokens) if token.value in stems]
        return places[0], places[-1]

    def _reaches(self, start: int, end: int, turns: Collection[str] = ()) -> bool:
        """True if the words between connect the two with certainty."""
        words = [token.text.casefold() for token in self.tokens]
        between = words[start:end]
        doubts = words_of("doubt", "negation")
        return (
            len(between) <= _BETWEEN_MAX
            and doubts.isdisjoint(words[:start] + between)
            and set(turns).isdisjoint(between)
        )


def _last_naming(text: str, value: Tokens) -> tuple[_Clause | None, frozenset[str]]:
    """Find the last clause that names a value, and the words for it, unless the thing continues."""
    stems = frozenset(word.value for word in value if word.kind not in ("mark", "function"))
    if not stems or pattern_of("resumed").search(text.casefold()):
        return None, stems
    naming = [clause for clause in _stating_clauses(text) if clause.names(stems)]
    return (naming[-1] if naming else None), stems


@remembered
def _stating_clauses(text: str) -> tuple[_Clause, ...]:
    """Return the stating clauses of a text; none that asks or supposes."""
    marks, told = words_of("clause_mark", "supposition"), True
    clauses: list[_Clause] = []
    clause: list[Token] = []
    # "Evening courses: over" says that they are over.
    for token in (*tokens_of(LABELLED.sub(r"\1 is \2", text)), Token("mark", ".", ".")):
        if token.text.casefold() != "and" and token.value not in marks:
            clause += [] if token.kind == "mark" else [token]
            continue
        if clause and told and token.value != "?":
            clauses.append(_Clause(tuple(clause)))
        told, clause = token.value not in words_of("supposition"), []
    return tuple(clauses)


def are_other_matters(
    one: Reading, other: Reading, nouns: Collection[str], values: Collection[str]
) -> bool:
    """True if both texts name the purpose of the attribute's value, and different ones.

    ``nouns`` are the stems of the attribute's names, such as "budget". Stems of the values name no
    matter: "her title is head of sales".
    """
    matters = [_matter(reading, nouns, values) for reading in (one, other)]
    named = [
        {word.stem for word in matter if word.kind in _DATED or folded(word.text) in reading.names}
        for matter, reading in zip(matters, (one, other), strict=True)
    ]
    here, there = named if all(named) else [{word.stem for word in matter} for matter in matters]
    return are_apart(here, there)


def tell_apart(one: Reading, other: Reading, *values: str) -> bool:
    """True if both name the purpose or time of their values, and different ones.

    "5 chairs for the lobby" and "3 for the hall"; the first invoice and the second.
    """
    aside = stems_of(" ".join(values))
    for kind in ("ordinal", "month", "year"):
        here, there = (reading.values.get(kind, {}).keys() - aside for reading in (one, other))
        if are_apart(here, there):
            return True
    here, there = (_purposes(reading) - aside for reading in (one, other))
    return are_apart(here, there)


def _purposes(reading: Reading) -> set[str]:
    """Find the purposes that the text names ("for", "of"); no lengths of time."""
    words = reading.words
    return {
        part.stem
        for at, word in enumerate(words)
        if _opens(word) and word.kind == "word" and word.stem not in words_of("measure")
        for part in _compound(words, at)
    }


def _matter(reading: Reading, nouns: Collection[str], values: Collection[str]) -> list[Word]:
    """Find words after "for" or "of", and those right before the noun: "the travel budget"."""
    words = reading.words
    places = [at for at, word in enumerate(words) if word.stem in nouns]
    if not places:
        return []
    aside = {*nouns, *values, *words_of("light"), *words_of("measure"), *words_of("stage")}
    beside = {
        *(part for at, word in enumerate(words) if _opens(word) for part in _compound(words, at)),
        *(words[at - 1] for at in places if at and not words[at].gap),
    }
    return [word for word in beside if word.stem not in aside and word.kind in ("word", *_DATED)]


def _opens(word: Word) -> bool:
    return word.governor == "for" or word.gap == "of"


def _compound(words: tuple[Word, ...], at: int) -> Iterator[Word]:
    yield words[at]
    for word in words[at + 1 : at + 3]:
        if word.gap not in ("", "hyphen"):
            return
        yield word
