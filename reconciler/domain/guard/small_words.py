"""The finders of small words that make another thing of the same words, which a cosine hardly sees.

"Another dog", "rents out", "number 5a", "gluten-free". Each looks where one text
has the small word and the other has the word beside it without. What is found says that the two may
be two, never that only one can hold; no finder may ever read a text itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

from reconciler.domain.guard.reading import Reading, Word, folded
from reconciler.domain.guard.vocabulary import vocabulary
from reconciler.domain.records.findings import Difference, Finding

_NAMES_MAX = 8
"""Names that are compared two by two; bounds the time for a text of names."""


def find_more(new: Reading, old: Reading) -> Iterator[Finding]:
    """What only one text tells of one more: "another dog", "ten more chairs", "a second key"."""
    here, there = (vocabulary().one_more.search(each.canonical) for each in (new, old))
    if bool(here) != bool(there):
        yield _word(here.group() if here else "", there.group() if there else "")


def find_ways(new: Reading, old: Reading) -> Iterator[Finding]:
    """A word behind the verb that turns it round, in one of two texts of the same words.

    Who "rents out a flat" does not rent one. With another word in its place it is found as such.
    """
    here, there = _turning(new), _turning(old)
    apart = here.keys() ^ there.keys()
    if apart and _light_aside(new) ^ _light_aside(old) <= apart:
        yield _word(" ".join(here.values()), " ".join(there.values()))


def find_letters(new: Reading, old: Reading) -> Iterator[Finding]:
    """A letter behind a number that the other text has without: "number 5a", "bus 5X"."""
    here, there = _lettered(new), _lettered(old)
    for reading, letters, others in ((new, here, old), (old, there, new)):
        numbers = others.values.get("number", {}).keys()
        bare = numbers - (there if reading is new else here).keys()
        if at := next((number for number in letters if number in bare), None):
            texts = letters[at], others.values["number"][at]
            in_note, in_fact = texts if reading is new else texts[::-1]
            yield Finding(kind=Difference.IDENTIFIER, in_note=in_note, in_fact=in_fact)
            return


def find_parts(new: Reading, old: Reading) -> Iterator[Finding]:
    """A part of a word that makes another thing of it: "gluten-free", "ex-wife"."""
    in_note, in_fact = _parted(new, old), _parted(old, new)
    if in_note or in_fact:
        yield _word(in_note, in_fact)


def exchange_names(new: Reading, old: Reading) -> bool:
    """Whether two names changed places, each with what is said of it.

    "The manager is Tom, the assistant is Ben" is no answer that "the manager is Ben, the assistant
    is Tom" only words otherwise.
    """
    if new.stems != old.stems or len(new.names) < 2:
        return False
    here, there = _said_of_names(new), _said_of_names(old)
    names = sorted(here.keys() & there.keys())[:_NAMES_MAX]
    return any(
        bool(here[one] and here[other])
        and here[one] != here[other]
        and (here[one], here[other]) == (there[other], there[one])
        for one, other in combinations(names, 2)
    )


def _word(in_note: str, in_fact: str) -> Finding:
    return Finding(kind=Difference.WORD, in_note=in_note, in_fact=in_fact)


def _light_aside(reading: Reading) -> frozenset[str]:
    return reading.stems - vocabulary().light


def _turning(reading: Reading) -> dict[str, str]:
    """The words that turn a verb round, right behind a word: "rents out", "gave away"."""
    known = vocabulary().turning
    return {
        token.value: token.text
        for before, token in pairwise(reading.tokens)
        if before.kind == "word" and token.text.casefold() in known
    }


def _lettered(reading: Reading) -> dict[str, str]:
    """By number, the number with the letter that stands right behind it."""
    return {
        number.stem: f"{number.text}{letter.text}"
        for number, letter in pairwise(reading.words)
        if number.kind == "number" and _is_letter(letter)
    }


def _is_letter(word: Word) -> bool:
    return word.kind == "id" and len(word.text) == 1 and word.text.isalpha() and not word.gap


def _parted(of: Reading, other: Reading) -> str:
    """The parts that make another word of the one beside them, which the other text has without."""
    known = vocabulary()
    parts = []
    for before, after in pairwise(of.words):
        if after.gap not in ("", "hyphen"):
            continue
        if after.text.lower() in known.parting_endings:
            parts.append((after, before))
        elif before.text.lower() in known.parting_beginnings:
            parts.append((before, after))
    return " ".join(
        part.text
        for part, word in parts
        if word.stem in other.stems and part.stem not in other.stems
    )


def _said_of_names(reading: Reading) -> dict[str, frozenset[str]]:
    """By name, the other words of its clause; a name that stands in two clauses is left out."""
    stems = {word.stem for word in reading.words if folded(word.text) in reading.names}
    clauses: list[set[str]] = [set()]
    for token in reading.tokens:
        if token.text.casefold() == "and" or token.value in vocabulary().clause_marks:
            clauses.append(set())
        elif token.kind == "word":
            clauses[-1].add(token.value)
    said: dict[str, list[frozenset[str]]] = {}
    for clause in clauses:
        for name in clause & stems:
            said.setdefault(name, []).append(frozenset(clause - {name}))
    return {name: each[0] for name, each in said.items() if len(each) == 1}
