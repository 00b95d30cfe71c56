"""The finders that compare what two texts say, whatever the order of their words.

Each takes the readings of the note and of the fact and yields what differs in its one respect:
values, currencies, denials, ends, opposites, names, the subject. Whether there is a finding must
not depend on which of the two is the note. Who did it to whom is the business of ``order``; no
finder may ever read a text itself.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from reconciler.domain.guard.reading import VALUE_KINDS, Clause, Count, Denial, Reading, folded
from reconciler.domain.guard.tokens import stem_of, tokens_of
from reconciler.domain.guard.vocabulary import vocabulary
from reconciler.domain.records.findings import Difference, Finding

_RATIO_MAX = 10.0
"""How many times as large the later of two counts of one thing may be."""

_BEGINNING = 3
"""Letters that two forms of a word have in common at least."""

_PERCENT = frozenset({"percent", "permille"})

LABELLED = re.compile(r"\A([^:]+): (\S+(?: \S+){,2})\Z")
"""A label, and up to three words about it."""

_SHORT = 3
"""Words of a clause that says hardly more than the one word that the other text denies."""


def find_values(new: Reading, old: Reading) -> Iterator[Finding]:
    """A number, date or id that one text has where the other has another.

    A number in both texts settles nothing if it counts different things: 13 schools and 30 clubs
    are not 30 schools and 13 clubs.
    """
    counted = _counted_otherwise(new, old)
    for kind in sorted((new.values.keys() & old.values.keys()) | counted.keys()):
        in_new, in_old = new.values.get(kind, {}), old.values.get(kind, {})
        in_note, in_fact = _missing(in_new, in_old), _missing(in_old, in_new)
        pairs = counted.get(kind, [])
        changed = next((pair for pair in pairs if _is_change(*pair)), None)
        if changed or (kind == "number" and pairs and not (in_note and in_fact)):
            note_count, fact_count = changed or pairs[0]
            in_note, in_fact = note_count.text, fact_count.text
        if in_note and in_fact:
            is_amount = kind == "number" and bool(new.currencies or old.currencies)
            yield Finding(
                kind=Difference.AMOUNT if is_amount else VALUE_KINDS[kind],
                in_note=in_note,
                in_fact=in_fact,
                is_change=bool(changed),
            )


def find_additions(new: Reading, old: Reading) -> Iterator[Finding]:
    """A number, date, id, name or degree that only the new text has: an addition, no difference."""
    for kind, values in sorted(new.values.items()):
        if added := _missing(values, old.values.get(kind, {})):
            yield Finding(kind=VALUE_KINDS[kind], in_note=added, in_fact="")
    if added := _foreign_names(new, old):
        yield Finding(kind=Difference.NAME, in_note=added, in_fact="")
    if added := _missing(new.degrees, old.degrees):
        yield Finding(kind=Difference.DETAIL, in_note=added, in_fact="")


def find_details(new: Reading, old: Reading) -> Iterator[Finding]:
    """Details of the old text that the new one leaves out: a number, a name, a degree, any word.

    A number that only the new text has took the place of the old one, and so do names and degrees.
    If the new text has other words of its own, missing words of the old one are no details: the two
    may say the same differently.
    """
    added = {finding.kind for finding in find_additions(new, old)}
    details = [addition for addition in find_additions(old, new) if addition.kind not in added]
    yield from map(_turned_round, details)
    if not details and says_no_more(new, old) and (left_out := count_stems(old) - count_stems(new)):
        said = {word.stem: word.text for word in old.words}
        words = " ".join(said[stem] for stem in left_out.elements())
        yield Finding(kind=Difference.DETAIL, in_note="", in_fact=words)


def says_no_more(new: Reading, old: Reading) -> bool:
    """Whether the old text has every word of content of the new one, and as often.

    A text without such a word ("A") is no part of another.
    """
    return bool(new.words) and count_stems(new) <= count_stems(old)


def find_currencies(new: Reading, old: Reading) -> Iterator[Finding]:
    """An amount in another currency, or a percentage in the place of one."""
    here, there = _units(new), _units(old)
    if (new.currencies or old.currencies) and here and there and here.isdisjoint(there):
        yield Finding(
            kind=Difference.AMOUNT,
            in_note=" ".join(sorted(here)),
            in_fact=" ".join(sorted(there)),
        )


def find_signs(new: Reading, old: Reading) -> Iterator[Finding]:
    """Another symbol, as ✅ for ❌, or one more; what only decorates is no difference."""
    only_new, only_old = new.signs - old.signs, old.signs - new.signs
    known, either = vocabulary(), only_new | only_old
    if not either.keys().isdisjoint(known.denying_signs) and not (only_new and only_old):
        yield Finding(
            kind=Difference.NEGATION,
            in_note=" ".join(only_new.elements()),
            in_fact=" ".join(only_old.elements()),
            is_change=_is_same_but_for(new, old, *either),
        )
    elif (only_new and only_old) or any(
        sign in known.exact_signs or (new.signs[sign] and old.signs[sign]) for sign in either
    ):
        yield Finding(
            kind=Difference.WORD,
            in_note=" ".join(only_new.elements()),
            in_fact=" ".join(only_old.elements()),
        )


def find_alike(new: Reading, old: Reading) -> Iterator[Finding]:
    """A word that begins like one of the other text but is no form of it: Michael, Michaela.

    A model that reads words in pieces takes the two for nearly the same.
    """
    only_new, only_old = _capitals(new) - old.spelt.keys(), _capitals(old) - new.spelt.keys()
    for word in sorted(only_new):
        if other := next((each for each in sorted(only_old) if _only_look_alike(word, each)), ""):
            yield Finding(kind=Difference.NAME, in_note=word, in_fact=other)
            return


def find_negation(new: Reading, old: Reading) -> Iterator[Finding]:
    """A denial that only one text has, by a word ("not") or by a prefix ("unpaid")."""
    if bool(new.negated) != bool(old.negated):
        yield Finding(
            kind=Difference.NEGATION,
            in_note=", ".join(word.text for word in new.negated),
            in_fact=", ".join(word.text for word in old.negated),
            is_change=(
                any(denial.reach for denial in (*new.negated, *old.negated))
                and _is_same_but_for(new, old, *_ends_named_alone(new), *_ends_named_alone(old))
            )
            or _is_denied(new.negated, old)
            or _is_denied(old.negated, new),
        )
    elif not new.negated:
        for plain, denied in (*_prefixed(new.stems, old.stems), *_prefixed(old.stems, new.stems)):
            in_note, in_fact = (plain, denied) if plain in new.stems else (denied, plain)
            yield Finding(
                kind=Difference.NEGATION,
                in_note=in_note,
                in_fact=in_fact,
                is_change=_is_same_but_for(new, old, plain, denied),
            )


def find_cessation(new: Reading, old: Reading) -> Iterator[Finding]:
    """Something that only one text says has ended."""
    if bool(new.ceased) != bool(old.ceased):
        yield Finding(
            kind=Difference.CESSATION,
            in_note=", ".join(word.text for word in new.ceased),
            in_fact=", ".join(word.text for word in old.ceased),
            is_change=(_is_denied(new.ceased, old) and not is_of_another(new, old))
            or (_is_denied(old.ceased, new) and not is_of_another(old, new)),
        )


def is_of_another(of: Reading, other: Reading) -> bool:
    """Whether the end that a text tells is that of a person whom the other does not name.

    "Bob has left Nordlys" ends no job of the contact's.
    """
    before = of.canonical.partition(of.ceased[0].text.split()[0].casefold())[0].split()
    return any(name in before and name not in other.names for name in of.names)


def find_words(new: Reading, old: Reading) -> Iterator[Finding]:
    """Another member of a closed class."""
    for number in sorted(new.sides.keys() & old.sides.keys()):
        in_note = _missing(new.sides[number], old.sides[number])
        in_fact = _missing(old.sides[number], new.sides[number])
        if in_note and in_fact:
            yield Finding(kind=Difference.WORD, in_note=in_note, in_fact=in_fact)


def find_labelled(new: Reading, old: Reading) -> Iterator[Finding]:
    """Another value behind one label: "Cookies: accepted", "Cookies: rejected"."""
    here, there = (LABELLED.search(each.canonical) for each in (new, old))
    if here and there and here[1] == there[1]:
        said, known = ({token.value for token in tokens_of(each[2])} for each in (here, there))
        if said - known and known - said:
            yield Finding(kind=Difference.WORD, in_note=here[2], in_fact=there[2], is_change=True)


def find_names(new: Reading, old: Reading) -> Iterator[Finding]:
    """A name in the place of another; a text with one name more only tells more."""
    in_note = _foreign_names(new, old)
    in_fact = _foreign_names(old, new) if in_note else ""
    if in_fact:
        yield Finding(kind=Difference.NAME, in_note=in_note, in_fact=in_fact)


def find_subject(new: Reading, old: Reading) -> Iterator[Finding]:
    """A relative or colleague who is the subject, and whom the other text does not name."""
    pairs = ((new, old), (old, new))
    if any(
        reading.subject and stem_of(reading.subject) not in other.stems for reading, other in pairs
    ):
        yield Finding(kind=Difference.SUBJECT, in_note=new.subject, in_fact=old.subject)


def words_of_its_own(of: Reading, other: Reading) -> set[str]:
    """The stems that the other text has in no form ("email" is in "e-mail"), light ones aside.

    A single letter does not count: a contraction leaves it, or it is found as a name.
    """
    known = vocabulary().light | other.stems
    return {
        word.stem
        for word in of.words
        if word.stem not in known and len(word.text) > 1 and folded(word.text) not in other.spelt
    }


def has_no_other_words(new: Reading, old: Reading, findings: Iterable[Finding]) -> bool:
    """Whether both have the same words of content, light words and the findings' aside."""
    tokens = tokens_of(" ".join(f"{finding.in_note} {finding.in_fact}" for finding in findings))
    known = vocabulary().light.union(token.value for token in tokens)
    return (new.stems ^ old.stems) <= known


def _units(reading: Reading) -> frozenset[str]:
    return reading.currencies or _PERCENT & reading.stems


def _capitals(reading: Reading) -> set[str]:
    return {
        folded(word.text)
        for word in reading.words
        if word.kind == "word" and word.text[0].isupper()
    }


def _only_look_alike(word: str, other: str) -> bool:
    """Whether two words begin alike, and are no two forms of a verb, which may open a sentence.

    A word with one letter more or less may be another name: Ann and Anne, Carlo and Carlos.
    """
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(word, other, strict=False))
    length = len(list(pairs))
    if length < min(_BEGINNING, len(word), len(other)):
        return False
    is_longer_by_a_letter = {len(word), len(other)} == {length, length + 1}
    is_form = length >= _BEGINNING and {word[length:], other[length:]} <= vocabulary().verb_endings
    return is_longer_by_a_letter or not is_form


def count_stems(reading: Reading) -> Counter[str]:
    """How often a text has each word of content, by its stem."""
    return Counter(word.stem for word in reading.words)


def _turned_round(finding: Finding) -> Finding:
    return replace(finding, in_note=finding.in_fact, in_fact=finding.in_note)


def _missing(values: dict[Any, str], others: Collection[Any]) -> str:
    return ", ".join(text for value, text in values.items() if value not in others)


def _counted_otherwise(new: Reading, old: Reading) -> dict[str, list[tuple[Count, Count]]]:
    """By kind, both texts' counts of one thing, if they agree on none of them."""
    pairs: dict[tuple[str, str], list[tuple[Count, Count]]] = defaultdict(list)
    for here in new.counts:
        for there in old.counts:
            if here.kind == there.kind:
                for thing in {*here.things}.intersection(there.things):
                    pairs[here.kind, thing].append((here, there))
    by_kind: dict[str, list[tuple[Count, Count]]] = defaultdict(list)
    for (kind, _), counts in pairs.items():
        if all(here.value != there.value for here, there in counts):
            by_kind[kind] += counts
    return by_kind


def _is_change(here: Count, there: Count) -> bool:
    """Whether both speak of the same thing, so that only one of the two values can hold now."""
    if here.kind == "number":
        small, large = sorted((float(here.value), float(there.value)))
        if large > small * _RATIO_MAX:
            return False
    if here.days and there.days and here.days.isdisjoint(there.days):
        return False
    if here.names and there.names and here.names.isdisjoint(there.names):
        return False
    measures = vocabulary().measures
    things = set(here.things) & set(there.things)
    shared = ((here.context | set(here.things)) & (there.context | set(there.things))) - measures
    is_short = min(len(here.context), len(there.context)) <= _SHORT
    if things <= measures:
        # Anything can be measured in pounds or weeks: one more word does not tell what.
        is_named = not shared.isdisjoint(here.names & there.names)
        return bool(shared) and (is_short or is_named or len(shared) > 1)
    return len(shared) > 1 or (bool(shared) and is_short)


def _is_same_but_for(new: Reading, old: Reading, *stems: str) -> bool:
    """Whether the texts have the same words of content, light words and these aside."""
    return (new.stems ^ old.stems) <= vocabulary().light.union(stems)


def _ends_named_alone(reading: Reading) -> Iterator[str]:
    """The stems of phrases that tell the end after the thing: "does not smoke any more"."""
    for end in reading.ceased:
        if not end.phrase:
            yield from (token.value for token in tokens_of(end.text))


def _is_denied(denials: Iterable[Denial], other: Reading) -> bool:
    """Whether a clause of the other text says the denied words in the same order."""
    return any(
        clause.is_plain and _says(clause, denial.phrase)
        for denial in denials
        if denial.phrase and denial.hours <= other.stems
        for clause in other.clauses
    )


def _says(clause: Clause, phrase: Sequence[str]) -> bool:
    rest = iter(clause.stems)
    if not all(stem in rest for stem in phrase):
        return False
    return len(phrase) > 1 or len(clause.stems) <= _SHORT


def _prefixed(stems: frozenset[str], others: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Stems that the other text has with a prefix that denies them: paid and unpaid."""
    prefixes = vocabulary().negative_prefixes
    for denied in sorted(stem for stem in others - stems if stem.startswith(prefixes)):
        for prefix in prefixes:
            plain = denied.removeprefix(prefix)
            if plain != denied and plain in stems and plain not in others:
                yield plain, denied


def _foreign_names(of: Reading, other: Reading) -> str:
    return " ".join(text for name, text in of.names.items() if not _is_spelt(name, of, other))


def _is_spelt(word: str, of: Reading, reading: Reading) -> bool:
    """Whether the text has the word, in one or in pieces, or one word of it and its neighbours."""
    return word in reading.spelt or any(
        word in pieces for joined, pieces in of.spelt.items() if joined in reading.spelt
    )
