"""The finders that compare what two texts say, whatever the order of their words.

Each takes the readings of the note and of the fact and yields what differs in its one respect:
values, currencies, denials, ends, opposites, names, the subject. Whether there is a finding must
not depend on which of the two is the note. Who did it to whom is the business of ``order``; no
finder may ever read a text itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from reconciler.domain.guard.reading import VALUE_KINDS, Reading
from reconciler.domain.guard.tokens import stem_of
from reconciler.domain.guard.vocabulary import vocabulary
from reconciler.domain.records.findings import Difference, Finding

__all__ = [
    "find_additions",
    "find_cessation",
    "find_currencies",
    "find_details",
    "find_names",
    "find_negation",
    "find_subject",
    "find_values",
    "find_words",
    "says_no_more",
]


def find_values(new: Reading, old: Reading) -> Iterator[Finding]:
    """A number, date or id that one text has where the other has another.

    A number that both have settles nothing where it counts something else there: 13 schools and
    30 clubs are not 30 schools and 13 clubs.
    """
    kinds = (new.values.keys() & old.values.keys()) | (new.counts.keys() & old.counts.keys())
    for kind in sorted(kinds):
        in_new, in_old = new.values.get(kind, {}), old.values.get(kind, {})
        in_note, in_fact = _missing(in_new, in_old), _missing(in_old, in_new)
        counts = next(_counted_otherwise(kind, new, old), None)
        if kind == "number" and counts and not (in_note and in_fact):
            in_note, in_fact = counts
        if in_note and in_fact:
            is_amount = kind == "number" and bool(new.currencies or old.currencies)
            yield Finding(
                kind=Difference.AMOUNT if is_amount else VALUE_KINDS[kind],
                in_note=in_note,
                in_fact=in_fact,
                is_change=bool(counts),
            )


def find_additions(new: Reading, old: Reading) -> Iterator[Finding]:
    """A number, date, id, name or degree of which the old text says nothing: no difference."""
    for kind, values in sorted(new.values.items()):
        if added := _missing(values, old.values.get(kind, {})):
            yield Finding(kind=VALUE_KINDS[kind], in_note=added, in_fact="")
    if added := _foreign_names(new, old):
        yield Finding(kind=Difference.NAME, in_note=added, in_fact="")
    if added := _missing(new.degrees, old.degrees):
        yield Finding(kind=Difference.DETAIL, in_note=added, in_fact="")


def find_details(new: Reading, old: Reading) -> Iterator[Finding]:
    """What the old text says and the new one leaves out: a number, a name, a degree, or any word.

    Where the new text has a number of its own, that took the old one's place, and so with names and
    degrees. Where it has words of its own, other words of the old one are no details: they may be
    the same thing said differently.
    """
    added = {finding.kind for finding in find_additions(new, old)}
    details = [each for each in find_additions(old, new) if each.kind not in added]
    yield from map(_turned_round, details)
    if not details and says_no_more(new, old) and (left_out := _stems(old) - _stems(new)):
        said = {word.stem: word.text for word in old.words}
        words = " ".join(said[stem] for stem in left_out.elements())
        yield Finding(kind=Difference.DETAIL, in_note="", in_fact=words)


def says_no_more(new: Reading, old: Reading) -> bool:
    """Whether the old text has every word of content of the new one, and as often.

    A text without such a word ("A") is no part of another.
    """
    return bool(new.words) and _stems(new) <= _stems(old)


def find_currencies(new: Reading, old: Reading) -> Iterator[Finding]:
    """An amount in another currency."""
    if new.currencies and old.currencies and new.currencies.isdisjoint(old.currencies):
        yield Finding(
            kind=Difference.AMOUNT,
            in_note=" ".join(sorted(new.currencies)),
            in_fact=" ".join(sorted(old.currencies)),
        )


def find_negation(new: Reading, old: Reading) -> Iterator[Finding]:
    """A denial that only one text has, by a word ("not") or by a prefix ("unpaid")."""
    if bool(new.negated) != bool(old.negated):
        yield Finding(
            kind=Difference.NEGATION,
            in_note=", ".join(new.negated.values()),
            in_fact=", ".join(old.negated.values()),
            is_change=_is_about(new.negated, old) or _is_about(old.negated, new),
        )
    elif not new.negated:
        for plain, denied in (*_prefixed(new.stems, old.stems), *_prefixed(old.stems, new.stems)):
            in_note, in_fact = (plain, denied) if plain in new.stems else (denied, plain)
            yield Finding(
                kind=Difference.NEGATION, in_note=in_note, in_fact=in_fact, is_change=True
            )


def find_cessation(new: Reading, old: Reading) -> Iterator[Finding]:
    """Something that only one text says has ended."""
    if bool(new.ceased) != bool(old.ceased):
        yield Finding(
            kind=Difference.CESSATION,
            in_note=", ".join(new.ceased.values()),
            in_fact=", ".join(old.ceased.values()),
            is_change=_is_about(new.ceased, old) or _is_about(old.ceased, new),
        )


def find_words(new: Reading, old: Reading) -> Iterator[Finding]:
    """Another member of a closed class."""
    for number in sorted(new.sides.keys() & old.sides.keys()):
        in_note = _missing(new.sides[number], old.sides[number])
        in_fact = _missing(old.sides[number], new.sides[number])
        if in_note and in_fact:
            yield Finding(kind=Difference.WORD, in_note=in_note, in_fact=in_fact)


def find_names(new: Reading, old: Reading) -> Iterator[Finding]:
    """A name in the place of another; one more or one fewer only tells more or less."""
    in_note = _foreign_names(new, old)
    in_fact = _foreign_names(old, new) if in_note else ""
    if in_fact:
        yield Finding(kind=Difference.NAME, in_note=in_note, in_fact=in_fact)


def find_subject(new: Reading, old: Reading) -> Iterator[Finding]:
    """A relative or colleague as the subject whom the other text does not know."""
    pairs = ((new, old), (old, new))
    if any(each.subject and stem_of(each.subject) not in other.stems for each, other in pairs):
        yield Finding(kind=Difference.SUBJECT, in_note=new.subject, in_fact=old.subject)


def _stems(reading: Reading) -> Counter[str]:
    return Counter(word.stem for word in reading.words)


def _turned_round(finding: Finding) -> Finding:
    return replace(finding, in_note=finding.in_fact, in_fact=finding.in_note)


def _missing(values: dict[Any, str], others: Collection[Any]) -> str:
    return ", ".join(text for value, text in values.items() if value not in others)


def _counted_otherwise(kind: str, new: Reading, old: Reading) -> Iterator[tuple[str, str]]:
    """For each thing that has numbers here and there, and never the same one, both of them."""
    in_new, in_old = new.counts.get(kind, {}), old.counts.get(kind, {})
    for thing in in_new:
        if thing in in_old and in_new[thing].keys().isdisjoint(in_old[thing]):
            yield ", ".join(in_new[thing].values()), ", ".join(in_old[thing].values())


def _is_about(markers: Iterable[str], other: Reading) -> bool:
    return not other.stems.isdisjoint(markers)


def _prefixed(stems: frozenset[str], others: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Stems that the other text has with a prefix that denies them: paid and unpaid."""
    for stem in sorted(stems - others):
        for prefix in vocabulary().negative_prefixes:
            if prefix + stem in others and prefix + stem not in stems:
                yield stem, prefix + stem


def _foreign_names(of: Reading, other: Reading) -> str:
    return " ".join(text for name, text in of.names.items() if not _mentions(other, name))


def _mentions(reading: Reading, name: str) -> bool:
    """Whether the text has the name, its beginning (Jan for January), or what it abbreviates."""
    beginning = name[: max(3, len(name) * 2 // 3)]
    return (
        name in reading.letters
        or (len(name) > 1 and name in reading.initials)
        or any(word.text.casefold().startswith(beginning) for word in reading.words)
    )
