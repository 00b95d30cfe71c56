"""The finders of differences: each compares two readings and yields differences of one kind.

Most compare contents in any order of words: values, currencies, denials, ends, opposites, names,
the subject. Others find exchanged roles: the same words in another order, or in another voice.
There two texts are aligned word by word, and groups of words that moved are found;
``_Order._is_harmless`` lets a move pass that is mere wording. The meaning of a word never counts
in that, only its place, the gap before it and its preposition. Others find small words that make
another thing of the same words, which a cosine hardly sees: "another dog", "rents out", "number
5a", "gluten-free". Each looks where one text has the small word and the other has the word next to
it without; a finding says that there may be two things, never that only one side can hold.

Exchanging note and fact must not change whether there is a difference; only additions and details
have a direction. A finder takes the readings of note and fact, and must never read a whole text
itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise, takewhile
from typing import Any, NamedTuple

from reconciler.frozen import StringSet, grouped, in_order
from reconciler.reading.findings import Difference, Finding
from reconciler.reading.guard.reading import (
    VALUE_KINDS,
    Clause,
    Count,
    Denial,
    Reading,
    Word,
    are_apart,
    folded,
    stems_of,
)
from reconciler.reading.guard.tokens import pattern_of, stem_of, tokens_of, words_of
from reconciler.reading.lexicon import lexicon

Found = Iterator[Finding]

_RATIO_MAX = 10.0
"""The largest ratio of a later count of one thing to an earlier count."""

_BEGINNING = 3
"""The least number of letters that two forms of a word have in common."""

_PERCENT = frozenset({"percent", "permille"})

LABELLED = re.compile(r"\A([^:]+): (\S+(?: \S+){,2})\Z")
"""A label, and up to three words about it."""

_SHORT = 3
"""The most words of a clause that says hardly more than the one word that the other text denies."""


def find_values(new: Reading, old: Reading) -> Found:
    """Find a number, date or id that differs from that of the other text.

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
                Difference.AMOUNT if is_amount else VALUE_KINDS[kind],
                in_note,
                in_fact,
                is_change=bool(changed),
            )


def find_additions(new: Reading, old: Reading) -> Found:
    """Find a number, date, id, name or degree that only the new text has: an addition."""
    for kind, values in sorted(new.values.items()):
        if added := _missing(values, old.values.get(kind, {})):
            yield Finding(VALUE_KINDS[kind], added, "")
    if added := _foreign_names(new, old):
        yield Finding(Difference.NAME, added, "")
    if added := _missing(new.degrees, old.degrees):
        yield Finding(Difference.DETAIL, added, "")


def find_details(new: Reading, old: Reading) -> Found:
    """Find details of the old text that the new one lacks: a number, a name, any word.

    A number that only the new text has took the place of the old one, and so do names and degrees.
    If the new text has other words of its own, missing words of the old one are no details: the two
    may say the same differently.
    """
    added = {finding.kind for finding in find_additions(new, old)}
    details = [addition for addition in find_additions(old, new) if addition.kind not in added]
    yield from (replace(each, in_note=each.in_fact, in_fact=each.in_note) for each in details)
    if not details and says_no_more(new, old) and (left_out := count_stems(old) - count_stems(new)):
        said = {word.stem: word.text for word in old.words}
        words = " ".join(said[stem] for stem in left_out.elements())
        yield Finding(Difference.DETAIL, "", words)


def says_no_more(new: Reading, old: Reading) -> bool:
    """True if the old text has every word of content of the new one, as often.

    A text without such a word ("A") is not part of another.
    """
    return bool(new.words) and count_stems(new) <= count_stems(old)


def find_currencies(new: Reading, old: Reading) -> Found:
    """Find an amount in another currency, or a percentage in place of an amount."""
    here, there = _units(new), _units(old)
    if (new.currencies or old.currencies) and are_apart(here, there):
        yield Finding(
            Difference.AMOUNT,
            " ".join(sorted(here)),
            " ".join(sorted(there)),
        )


def find_signs(new: Reading, old: Reading) -> Found:
    """Find another symbol, as ✅ for ❌, or one more; mere decoration does not count."""
    only_new, only_old = new.signs - old.signs, old.signs - new.signs
    either = only_new | only_old
    is_other = bool(only_new and only_old)
    is_denied = not is_other and not either.keys().isdisjoint(words_of("denying_sign"))
    is_more = any(
        sign in words_of("exact_sign") or (new.signs[sign] and old.signs[sign]) for sign in either
    )
    if is_denied or is_other or is_more:
        yield Finding(
            Difference.NEGATION if is_denied else Difference.WORD,
            " ".join(only_new.elements()),
            " ".join(only_old.elements()),
            is_change=is_denied and _is_same_but_for(new, old, *either),
        )


def find_alike(new: Reading, old: Reading) -> Found:
    """Find a word that begins like one of the other text but is no form of it.

    An example is Michael and Michaela. A model that reads words in pieces finds the two nearly
    equal.
    """
    only_new, only_old = _capitals(new) - old.spelt.keys(), _capitals(old) - new.spelt.keys()
    for word in sorted(only_new):
        if other := next((each for each in sorted(only_old) if _only_look_alike(word, each)), ""):
            yield Finding(Difference.NAME, word, other)
            return


def find_negation(new: Reading, old: Reading) -> Found:
    """Find a denial that only one text has, by a word ("not") or by a prefix ("unpaid")."""
    if bool(new.negated) != bool(old.negated):
        yield Finding(
            Difference.NEGATION,
            _told(new.negated),
            _told(old.negated),
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
                Difference.NEGATION,
                in_note,
                in_fact,
                is_change=_is_same_but_for(new, old, plain, denied),
            )


def find_cessation(new: Reading, old: Reading) -> Found:
    """Find an end that only one text reports."""
    if bool(new.ceased) != bool(old.ceased):
        yield Finding(
            Difference.CESSATION,
            _told(new.ceased),
            _told(old.ceased),
            is_change=(_is_denied(new.ceased, old) and not is_of_another(new, old))
            or (_is_denied(old.ceased, new) and not is_of_another(old, new)),
        )


def is_of_another(of: Reading, other: Reading) -> bool:
    """True if the end that a text tells is that of a person whom the other does not name.

    "Bob has left Nordlys" ends no job of the contact's.
    """
    before = of.canonical.partition(of.ceased[0].text.split()[0].casefold())[0].split()
    return any(name in before and name not in other.names for name in of.names)


def find_words(new: Reading, old: Reading) -> Found:
    """Find another member of a closed class; of contraries ("likes", "hates") one side holds."""
    contraries = len(lexicon("guard").words("contrary"))
    for number in sorted(new.sides.keys() & old.sides.keys()):
        in_note = _missing(new.sides[number], old.sides[number])
        in_fact = _missing(old.sides[number], new.sides[number])
        if in_note and in_fact:
            found = Finding(Difference.WORD, in_note, in_fact)
            is_plain = number < contraries and not (new.negated or old.negated)
            yield replace(found, is_change=is_plain and has_no_other_words(new, old, [found]))


def find_labelled(new: Reading, old: Reading) -> Found:
    """Find another value after one label: "Cookies: accepted", "Cookies: rejected"."""
    here, there = (LABELLED.search(each.canonical) for each in (new, old))
    if here and there and here[1] == there[1]:
        said, known = ({token.value for token in tokens_of(each[2])} for each in (here, there))
        if said - known and known - said:
            yield Finding(Difference.WORD, here[2], there[2], is_change=True)


def find_names(new: Reading, old: Reading) -> Found:
    """Find a name in place of another; one more name does not count."""
    in_note = _foreign_names(new, old)
    in_fact = _foreign_names(old, new) if in_note else ""
    if in_fact:
        yield Finding(Difference.NAME, in_note, in_fact)


def find_subject(new: Reading, old: Reading) -> Found:
    """Find a relative or colleague who is the subject, and whom the other text does not name."""
    pairs = ((new, old), (old, new))
    if any(
        reading.subject and stem_of(reading.subject) not in other.stems for reading, other in pairs
    ):
        yield Finding(Difference.SUBJECT, new.subject, old.subject)


def words_of_its_own(of: Reading, other: Reading) -> set[str]:
    """Find stems that the other text has in no form ("email" is in "e-mail"), light ones aside.

    A single letter does not count: a contraction leaves it, or it is found as a name.
    """
    known = words_of("light") | other.stems
    return {
        word.stem
        for word in of.words
        if word.stem not in known and len(word.text) > 1 and folded(word.text) not in other.spelt
    }


def has_no_other_words(new: Reading, old: Reading, findings: Iterable[Finding]) -> bool:
    """True if both have the same words of content, light words and the findings' aside."""
    said = " ".join(f"{finding.in_note} {finding.in_fact}" for finding in findings)
    return _is_same_but_for(new, old, *stems_of(said))


def _units(reading: Reading) -> StringSet:
    return reading.currencies or _PERCENT & reading.stems


def _capitals(reading: Reading) -> set[str]:
    return {
        folded(word.text)
        for word in reading.words
        if word.kind == "word" and word.text[0].isupper()
    }


def _only_look_alike(word: str, other: str) -> bool:
    """True if two words begin alike, and are no two forms of a verb, which may open a sentence.

    A word with one letter more or less may be another name: Ann and Anne, Carlo and Carlos.
    """
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(word, other, strict=False))
    length = len(list(pairs))
    if length < min(_BEGINNING, len(word), len(other)):
        return False
    is_longer_by_a_letter = {len(word), len(other)} == {length, length + 1}
    endings = {word[length:], other[length:]} - {""}
    is_form = length >= _BEGINNING and endings <= words_of("verb_ending")
    return is_longer_by_a_letter or not is_form


def count_stems(reading: Reading) -> Counter[str]:
    """Count the words of content of a text, by their stems."""
    return Counter(word.stem for word in reading.words)


def _missing(values: dict[Any, str], others: Collection[Any]) -> str:
    return ", ".join(text for value, text in values.items() if value not in others)


def _counted_otherwise(new: Reading, old: Reading) -> dict[str, list[tuple[Count, Count]]]:
    """Find both texts' counts of one thing, by kind, if they agree on none of them."""
    pairs = grouped(
        ((here.kind, thing), (here, there))
        for here in new.counts
        for there in old.counts
        if here.kind == there.kind
        for thing in {*here.things}.intersection(there.things)
    )
    return grouped(
        (kind, pair)
        for (kind, _), counts in pairs.items()
        if all(here.value != there.value for here, there in counts)
        for pair in counts
    )


def _is_change(here: Count, there: Count) -> bool:
    """True if both are about the same thing, so that only one of the two values can hold now."""
    if here.kind == "number":
        small, large = sorted((float(here.value), float(there.value)))
        if large > small * _RATIO_MAX:
            return False
    if are_apart(here.days, there.days) or are_apart(here.names, there.names):
        return False
    measures = words_of("measure")
    things = set(here.things) & set(there.things)
    shared = ((here.context | set(here.things)) & (there.context | set(there.things))) - measures
    is_short = min(len(here.context), len(there.context)) <= _SHORT
    if things <= measures:
        # Anything can be measured in pounds or weeks: one more word does not tell what.
        is_named = not shared.isdisjoint(here.names & there.names)
        return bool(shared) and (is_short or is_named or len(shared) > 1)
    return len(shared) > 1 or (bool(shared) and is_short)


def _is_same_but_for(new: Reading, old: Reading, *stems: str) -> bool:
    """True if the texts have the same words of content, light words and these aside."""
    return (new.stems ^ old.stems) <= words_of("light").union(stems)


def _ends_named_alone(reading: Reading) -> Iterator[str]:
    """Find stems of phrases that name the end after the thing: "does not smoke any more"."""
    for end in reading.ceased:
        if not end.phrase:
            yield from stems_of(end.text)


def _told(denials: Iterable[Denial]) -> str:
    return ", ".join(denial.text for denial in denials)


def _is_denied(denials: Iterable[Denial], other: Reading) -> bool:
    """True if a clause of the other text says the denied words in the same order."""
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


def _prefixed(stems: StringSet, others: StringSet) -> Iterator[tuple[str, str]]:
    """Find stems that the other text has with a prefix that denies them: paid and unpaid."""
    prefixes = lexicon("guard").words("negative_prefix")
    for denied in sorted(stem for stem in others - stems if stem.startswith(prefixes)):
        for prefix in prefixes:
            if (plain := denied.removeprefix(prefix)) in stems - others:
                yield plain, denied


def _foreign_names(of: Reading, other: Reading) -> str:
    return " ".join(text for name, text in of.names.items() if not _is_spelt(name, of, other))


def _is_spelt(word: str, of: Reading, reading: Reading) -> bool:
    """True if the text has the word, in one or in pieces, or one word of it and its neighbours."""
    return word in reading.spelt or any(
        word in pieces for joined, pieces in of.spelt.items() if joined in reading.spelt
    )


_COMPOUND_WORDS_MAX = 3
"""The most words of a compound that may be reversed: "block of stone", "stone block".

Source: measured on PAWS; longer ones hide swaps, 15 of 494 without this limit, 3 with it.
"""

_REPEATS_MAX = 8
"""The most places of a repeated word that are compared; bounds the time for a text of one word."""


def find_voice(new: Reading, old: Reading) -> Found:
    """Find active against passive in the same order: the two persons exchange roles."""
    for in_note, in_fact in (*_turned(new, old), *(pair[::-1] for pair in _turned(old, new))):
        yield Finding(Difference.ROLES, in_note, in_fact, is_change=True)


def find_order(new: Reading, old: Reading) -> Found:
    """Find swapped words: the same words in another order that is more than mere wording."""
    is_sorted = new.canonical < old.canonical  # so that the answer is the same both ways
    here, there = (new, old) if is_sorted else (old, new)
    if swapped := _Order(here.words, there.words).swapped():
        as_here = " ".join(here.words[pair.here].text for pair in swapped)
        as_there = " ".join(there.words[at].text for at in sorted(pair.there for pair in swapped))
        in_note, in_fact = (as_here, as_there) if is_sorted else (as_there, as_here)
        is_change = new.stems == old.stems  # where words changed too, it may be a paraphrase
        yield Finding(Difference.ROLES, in_note, in_fact, is_change=is_change)


def _turned(passive: Reading, active: Reading) -> Iterator[tuple[str, str]]:
    """Find each "acquired by Globex" for which the other text has "acquired Globex"."""
    pairs = [
        (verb, agent)
        for verb, agent in pairwise(passive.words)
        if agent.governor == "by" and verb.gap == "is"
    ]
    if not pairs:
        return
    direct = {(verb.stem, word.stem) for verb, word in pairwise(active.words) if not word.gap}
    for verb, agent in pairs:
        if (verb.stem, agent.stem) in direct:
            yield f"{verb.text} by {agent.text}", f"{verb.text} {agent.text}"


class _Pair(NamedTuple):
    """The places of one word in both texts."""

    here: int
    there: int


_Pairs = list[_Pair]


@in_order
class _Order:
    """The words that two texts share, with a check whether their order may matter.

    A group of words stands in another order. If it falls into two halves that only changed places,
    the words between and around them decide. Anything more tangled (two words swapped across others
    that stayed) counts as a swap of roles. Source: measured on PAWS.
    """

    _here: tuple[Word, ...]
    _there: tuple[Word, ...]

    def swapped(self) -> _Pairs:
        """Find a group of words with an order that matters; empty if there is none."""
        pending = _unmoved_apart(self._aligned())
        while pending:
            group = pending.pop()
            if len(group) < 2:
                continue
            halves = self._harmless_exchange(group)
            if halves is None:
                return group
            pending += [part for half in halves for part in _unmoved_apart(half)]
        return []

    def _aligned(self) -> _Pairs:
        """Pair each word with the same word there; of several, the one with the same neighbours."""
        places = grouped((word.stem, there) for there, word in enumerate(self._there))
        pairs = []
        for here, word in enumerate(self._here):
            free = places.get(word.stem)
            if free:
                there = free[0] if len(free) == 1 else self._likeliest(here, free)
                free.remove(there)
                pairs.append(_Pair(here, there))
        return pairs

    def _likeliest(self, here: int, places: list[int]) -> int:
        around = _around(self._here, here)
        return max(
            places[:_REPEATS_MAX],
            key=lambda there: sum(map(str.__eq__, around, _around(self._there, there))),
        )

    def _harmless_exchange(self, group: _Pairs) -> tuple[_Pairs, _Pairs] | None:
        """Find halves that exchanged places; empty if their inside follows from the exchange."""
        for cut in _cuts(group):
            left, right = group[:cut], group[cut:]
            if self._is_turned_passive(left, right):
                return [], []
            if self._is_harmless(left, right):
                return left, right
        return None

    def _is_harmless(self, left: _Pairs, right: _Pairs) -> bool:
        """True if ``left right`` here says the same as ``right left`` there.

        Source: measured on PAWS and ParaRel; each lets one to 18 in 100 paraphrases through, and
        fewer than one in 100 swaps.
        """
        first_there = min(pair.there for pair in left)
        gaps = {self._here[right[0].here].gap, self._there[first_there].gap}
        return (
            gaps == {"list"}  # "tea and coffee", "coffee and tea"
            or gaps == {"is"}  # "Paris is the capital", "the capital is Paris"
            or gaps == {"of", "own"}  # "the budget of Ana", "Ana's budget"
            or (gaps == {"of", ""} and len(left + right) <= _COMPOUND_WORDS_MAX)
            or self._is_fronted(left)
            or self._is_fronted(right)
        )

    def _is_fronted(self, phrase: _Pairs) -> bool:
        """True if a phrase moved as a whole to or from an end of the text ("In 2019, ...").

        If there is a second such phrase ("in 2019 ... in 2021"), it is unknown which one moved.
        """
        here, there = self._here[phrase[0].here], self._there[phrase[0].there]
        return (
            bool(here.governor)
            and here.governor == there.governor
            and all(_phrases_like(here, words) <= 1 for words in (self._here, self._there))
            and self._is_whole_at_an_end(phrase)
        )

    def _is_whole_at_an_end(self, phrase: _Pairs) -> bool:
        places = [pair.there for pair in phrase]
        spans = (
            (phrase[0].here, phrase[-1].here, self._here),
            (min(places), max(places), self._there),
        )
        return any(first == 0 or last + 1 == len(words) for first, last, words in spans) and all(
            last + 1 == len(words) or words[last + 1].gap for _, last, words in spans
        )

    def _is_turned_passive(self, left: _Pairs, right: _Pairs) -> bool:
        """True if the one is the other in the passive: "A acquired B", "B was acquired by A"."""
        agents_here, agents_there = _agents(self._here), _agents(self._there)
        if agents_here:
            return agents_here == {right[0].here} and not agents_there
        return agents_there == {min(pair.there for pair in left)}


def _agents(words: Sequence[Word]) -> set[int]:
    return {at for at, word in enumerate(words) if word.governor == "by"}


def _phrases_like(opening: Word, words: Iterable[Word]) -> int:
    return sum(word.governor == opening.governor and word.kind == opening.kind for word in words)


def _around(words: Sequence[Word], at: int) -> tuple[str, str]:
    before = words[at - 1].stem if at else ""
    after = words[at + 1].stem if at + 1 < len(words) else ""
    return before, after


def _unmoved_apart(pairs: _Pairs) -> list[_Pairs]:
    """Return pairs in groups that follow each other in both texts, as small as possible."""
    groups: list[_Pairs] = []
    start, highest = 0, -1
    least_after = _from_the_end(pairs, min)
    for end, pair in enumerate(pairs, 1):
        highest = max(highest, pair.there)
        if end == len(pairs) or highest < least_after[end]:
            groups.append(pairs[start:end])
            start = end
    return groups


def _cuts(group: _Pairs) -> list[int]:
    """Find places that part the group into halves that the other text has in reverse order."""
    least = list(accumulate((pair.there for pair in group), min))
    most_after = _from_the_end(group, max)
    return [cut for cut in range(1, len(group)) if least[cut - 1] > most_after[cut]]


def _from_the_end(pairs: _Pairs, extreme: Callable[[int, int], int]) -> list[int]:
    """Return for each pair the extreme place of it and of all later pairs."""
    return list(accumulate((pair.there for pair in reversed(pairs)), extreme))[::-1]


def find_more(new: Reading, old: Reading) -> Found:
    """Find one more thing that only one text has: "another dog", "ten more chairs"."""
    here, there = (pattern_of("one_more").search(each.canonical) for each in (new, old))
    if bool(here) != bool(there):
        yield _word(here.group() if here else "", there.group() if there else "")


def find_ways(new: Reading, old: Reading) -> Found:
    """A word after the verb that reverses its meaning, if only one of two equal texts has it.

    Who "rents out a flat" does not rent one. If the other text has another word in this place, the
    usual comparison finds it.
    """
    here, there = _turning(new), _turning(old)
    apart = here.keys() ^ there.keys()
    if apart and _light_aside(new) ^ _light_aside(old) <= apart:
        yield _word(" ".join(here.values()), " ".join(there.values()))


def find_letters(new: Reading, old: Reading) -> Found:
    """Find a letter after a number that the other text lacks: "number 5a", "bus 5X"."""
    here, there = _lettered(new), _lettered(old)
    for letters, others, other in ((here, there, old), (there, here, new)):
        numbers = other.values.get("number", {})
        if at := next((each for each in letters if each in numbers.keys() - others.keys()), None):
            texts = letters[at], numbers[at]
            yield Finding(Difference.IDENTIFIER, *(texts if other is old else texts[::-1]))
            return


def find_parts(new: Reading, old: Reading) -> Found:
    """Find a part of a word that changes its meaning: "gluten-free", "ex-wife"."""
    in_note, in_fact = _parted(new, old), _parted(old, new)
    if in_note or in_fact:
        yield _word(in_note, in_fact)


def _word(in_note: str, in_fact: str) -> Finding:
    return Finding(Difference.WORD, in_note, in_fact)


def _light_aside(reading: Reading) -> StringSet:
    return reading.stems - words_of("light")


def _turning(reading: Reading) -> dict[str, str]:
    """Find words right after a verb that reverse its meaning: "rents out", "gave away"."""
    known = words_of("turning")
    return {
        token.value: token.text
        for before, token in pairwise(reading.tokens)
        if before.kind == "word" and token.text.casefold() in known
    }


def _lettered(reading: Reading) -> dict[str, str]:
    """Return by number the number with the letter right after it."""
    return {
        number.stem: f"{number.text}{letter.text}"
        for number, letter in pairwise(reading.words)
        if (number.kind, letter.kind, letter.gap) == ("number", "id", "")
        if len(letter.text) == 1 and letter.text.isalpha()
    }


def _parted(of: Reading, other: Reading) -> str:
    """Find parts that change the meaning of the next word, which the other text has without."""
    parts = []
    for before, after in pairwise(of.words):
        if after.gap not in ("", "hyphen"):
            continue
        if after.text.lower() in words_of("parting_ending"):
            parts.append((after, before))
        elif before.text.lower() in words_of("parting_beginning"):
            parts.append((before, after))
    return " ".join(
        part.text
        for part, word in parts
        if word.stem in other.stems and part.stem not in other.stems
    )
