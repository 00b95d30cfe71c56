"""Placing: completes a note's slot from the contact's facts, before they are compared. Pure.

The facts show the person that the note is about, the number of values of a made-up attribute, and
the thing in "Ticket T-1 is closed.". An attribute keeps its first number of values; the book is
never changed.

One person has one subject. "Maria" and "Frau Keller" are the contact Maria Keller; "Martin", "her
husband" and "husband Martin" are one, if no other known person fits. If several different people
fit, nothing is guessed: the subject stays as it was said, and the reply asks which person is
meant. A subject has names and a role. A word that the texts write only in small letters is no
name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache, cached_property
from itertools import chain, combinations, product, starmap
from typing import NamedTuple

from reconciler.domain.records.facts import Facts
from reconciler.domain.records.notes import CONTACT_SUBJECT, Note, Slot, keyed
from reconciler.domain.values.attributes import AttributeBook
from reconciler.frozen import Strings, StringSet, grouped
from reconciler.reading.canonical import unaccented
from reconciler.reading.guard.reading import are_apart
from reconciler.reading.guard.tokens import words_of
from reconciler.reading.lexicon import lexicon
from reconciler.reading.values.text import text

_JOINED_LETTERS = str.maketrans("æœ", "ao")
_SMALL, _CAPITAL = re.compile(r"(?<![a-z]:)\b[a-z]\w*"), re.compile(r"(?<=[^\s.!?] )[A-Z]\w*")
"""A word in small letters, and one with a capital that no sentence begins with.

The hash of a token for personal data is no such word: it is a name, as in ``[email:d584abd5bd6d]``.
"""

_FULL_NAME = re.compile(r"\b([A-Z]\w+) ([A-Z]\w+)")

_TEXTS_MAX = 20
"""The number of texts about a person that are read for its names."""

NAMING = frozenset({"name", "preferred_name"})
"""Attributes with the name of a person."""

_TELLING = frozenset({"title", "relation", "relationship"})
"""Attributes that say who a person is to the contact."""


class Meant(NamedTuple):
    """The person that a subject means, or the several people that it may mean.

    Attributes:
        subjects: all subjects of this person, the best one first; if the person is not clear, the
            subject as it was said.
        may_be: the subjects of the people that it may be; empty if it is clear.
    """

    subjects: Strings
    may_be: Strings = ()


class _Person(NamedTuple):
    """A person, or a thing, by its subject; ``roles`` are all that are known of it."""

    subject: str
    names: StringSet
    role: str = ""
    titles: StringSet = frozenset()
    roles: StringSet = frozenset()


class People:
    """The contact and the people that its facts are about.

    Args:
        told: the slots of the contact's facts, each with the fact's text.
        called: the contact's names.
        is_one_role: says whether two words are one role, such as "wife" and "spouse".
    """

    def __init__(
        self,
        told: Iterable[tuple[Slot, str]],
        called: Iterable[str],
        is_one_role: Callable[[str, str], bool],
    ) -> None:
        self._is_one_role = is_one_role
        about = grouped((slot.subject, (slot, said)) for slot, said in told)
        own = [slot for slot, _ in about.pop(CONTACT_SUBJECT, [])]
        self._own = [(each.attribute_in_words, _names(each)) for each in own]
        named = [each for each in own if each.attribute in NAMING]
        full_names = {*map(_names, called), *map(_names, named)} - {frozenset()}
        self._known_names = self._owners = frozenset(chain(*full_names))
        self._people = [_Person(CONTACT_SUBJECT, each) for each in full_names]
        self._people += [self._known(*each) for each in about.items() if each[0][0] != "("]
        self._known_names |= frozenset(chain(*(person.names for person in self._people)))

    def meant_by(self, subject: str, said: str) -> Meant:
        """Find the person that a subject means; itself if no known person.

        Args:
            subject: as ``AttributeBook.slot`` folds it.
            said: the note's text.
        """
        given = _person(subject, said, self._owners, self._known_names)
        fits = [person for person in self._people if self._fits(given, person)]
        fits.sort(key=lambda each: (each.subject != CONTACT_SUBJECT, each.subject != subject))
        subjects = tuple(dict.fromkeys(person.subject for person in fits))
        if any(self._are_two(one, other) for one, other in combinations(fits, 2)):
            return Meant((subject,), subjects)
        owner = {each.subject for each in self._people if given.names > each.names}
        if not fits and not given.role and CONTACT_SUBJECT in owner:
            return Meant((subject,), (CONTACT_SUBJECT,))
        return Meant(subjects or (subject,))

    def _known(self, subject: str, facts: Sequence[tuple[Slot, str]]) -> _Person:
        """Return a known person, with the roles in the contact's own facts: "spouse: Martin"."""
        texts = " ".join(said for _, said in facts[:_TEXTS_MAX])
        read = _person(subject, texts, self._owners, self._known_names)
        names = read.names.union(*(_names(slot) for slot, _ in facts if slot.attribute in NAMING))
        pairs = [map(_compared, pair) for pair in _FULL_NAME.findall(_bare(texts))]
        names = names.union(family for first, family in pairs if first in names)
        also = {_compared(slot.value or "") for slot, _ in facts if slot.attribute in _TELLING}
        held = {
            value
            for role, value in self._own
            if self._is_one_role(read.role, role) and _share_names(names or value, value)
        }
        if len(held) == 1:  # of flats 3B and 5A, each has its own name
            names = names.union(*held)
        also |= {role for role, value in self._own if names and names <= value}
        return read._replace(names=names, roles=read.roles | also)

    def _fits(self, given: _Person, known: _Person) -> bool:
        if not given.names:
            return any(self._is_one_role(given.role, role) for role in known.roles)
        if not known.names:
            is_only = known.role in lexicon("slots").word_set("relation")
            return is_only and self._is_one_role(given.role, known.role)
        is_contact = known.subject == CONTACT_SUBJECT
        if is_contact and len(known.names) == 1 and given.names != known.names:
            return False  # a longer name may be another's
        return not self._are_two(known, given) and not any(
            other.names > known.names and self._are_two(other, given) for other in self._people
        )

    def _are_two(self, one: _Person, other: _Person) -> bool:
        """True if two cannot be one person: by titles, names, or as a colleague and a cousin."""
        if one.subject == CONTACT_SUBJECT and other.role:
            return True
        if are_apart(one.titles, other.titles):
            return True
        if one.names and other.names and not _share_names(one.names, other.names):
            return True
        are_relatives = all(_relatives().intersection(each.role.split()) for each in (one, other))
        is_one = any(starmap(self._is_one_role, product(one.roles, other.roles)))
        return are_relatives and not is_one and len(one.names & other.names) < 2


def _person(
    subject: str,
    said: str,
    owners: StringSet = frozenset(),
    known_names: StringSet = frozenset(),
) -> _Person:
    """Return names and role of a subject; "Maria's husband" is the husband of the contact Maria.

    Args:
        subject: as ``AttributeBook.slot`` folds it.
        said: the texts about it.
        owners: the names of the contact.
        known_names: words that are names, even if a text writes them in small letters.
    """
    words = _compared(subject).split()
    if len(words) > 1 and words[0].removesuffix("s") in owners - {words[0]}:
        del words[0]
    titles = _titles().intersection(words)
    words = [word for word in words if word not in titles | _for_contacts()] or words
    small, named = ({*map(_compared, kind.findall(_bare(said)))} for kind in (_SMALL, _CAPITAL))
    small -= known_names.union(lexicon("slots").word_set("joining_person"))
    last = max((at for at, word in enumerate(words) if word in _relatives()), default=-1)
    last += 2 * (last >= 0 and words[last + 1 : last + 3] == ["in", "law"])
    names = {
        word
        for at, word in enumerate(words)
        if word not in _relatives() and (word in named or (at > last and word not in small))
    }
    role = " ".join(word for word in words if word not in names)
    return _Person(subject, frozenset(names), role, titles, frozenset({role} - {""}))


def is_name_alone(subject: str, said: str) -> bool:
    """True if a subject is a name without a role: only such a subject can mean the contact.

    Args:
        subject: as ``AttributeBook.slot`` folds it.
        said: the note's text.
    """
    given = _person(subject, said)
    return bool(given.names) and not given.role


def _share_names(one: StringSet, other: StringSet) -> bool:
    """True if all names of one are names of the other; one may be shortened beside a whole one."""
    less, more = sorted((one, other), key=len)
    shared = less & more
    return bool(shared) and all(
        any(_are_short(*sorted((name, full), key=len)) for full in more - shared)
        for name in less - shared
    )


def _are_short(short: str, full: str) -> bool:
    # Ticket 1 is not short for ticket 12.
    return full.startswith(short) and len(short) != len("Jo") and not short[-1].isdigit()


def _names(said: str | Slot) -> StringSet:
    words = said if isinstance(said, str) else said.value or ""
    return frozenset(_compared(words).split()) - _titles()


def _bare(said: str) -> str:
    """Return a text without accents, with its capitals."""
    return unaccented(said.translate(_JOINED_LETTERS))


def _compared(said: str) -> str:
    """Return the form for comparing names: without accents; Jürgen and Juergen are one."""
    return re.sub("([aou])e", r"\1", text(_bare(said)).replace("_", " "))


@cache
def _titles() -> StringSet:
    """Return the titles in the form for comparing, and "M." for Monsieur."""
    return frozenset({"m", *map(_compared, lexicon("values").words("title"))})


@cache
def _for_contacts() -> StringSet:
    return lexicon("values").word_set("contact_word")


@cache
def _relatives() -> StringSet:
    return frozenset(map(_compared, words_of("relative")))


def needs_placing(note: Note) -> bool:
    """True if the contact's facts may say more about a note's slot than the note does."""
    slot = note.slot
    if slot is None:
        return keyed(note.text) is not None
    return slot.subject != CONTACT_SUBJECT or (slot.attribute is not None and not slot.is_known)


class Placing:
    """Places notes among a contact's facts.

    Args:
        facts: the facts with an attribute.
        called: the contact's names.
        attributes: the book.
        disputed_with: the ids of the other sides of a fact's disputes.
    """

    def __init__(
        self,
        facts: Facts,
        called: StringSet,
        attributes: AttributeBook,
        disputed_with: Callable[[str], Collection[str]],
    ) -> None:
        self.called = called
        self._facts = [(fact.slot, fact) for fact in facts if fact.slot]
        self._attributes = attributes
        self._disputed_with = disputed_with

    @cached_property
    def _people(self) -> People:
        told = [(slot, fact.text) for slot, fact in self._facts]
        return People(told, self.called, self._attributes.are_one_role)

    def meant_by(self, subject: str, said: str) -> Meant:
        """Find the person that a folded subject means; see ``People``."""
        return self._people.meant_by(subject, said)

    def place(self, note: Note) -> Note:
        """Return a note with its slot completed from the facts."""
        if note.slot is None:
            told = self._state_told(note.text)
            return replace(note, slot=told, slot_read_from=note.text) if told else note
        slot = note.slot
        if slot.attribute is not None and not slot.is_known:
            slot = self._of_its_kind(slot)
        if slot.subject != CONTACT_SUBJECT:
            subjects = self.meant_by(slot.subject, note.text).subjects
            filed = {known.subject for known, _ in self._facts if known.attribute == slot.attribute}
            subject = next((each for each in subjects if each in filed), subjects[0])
            slot = replace(slot, subject=subject)
        return note if slot == note.slot else replace(note, slot=slot)

    def _of_its_kind(self, slot: Slot) -> Slot:
        """Return a slot with the number of values that its attribute had first."""
        same = [pair for pair in self._facts if pair[0].attribute == slot.attribute]
        if any(known.is_single_valued for known, _ in same):
            return replace(slot, is_single_valued=True, is_open=False)
        beside = {
            known.value_key
            for known, fact in same
            if known.subject == slot.subject and not self._disputed_with(fact.fact_id)
        }
        has_several = len(beside) > 1  # side by side without a dispute
        return replace(slot, is_single_valued=False, is_open=False) if has_several else slot

    def _state_told(self, text: str) -> Slot | None:
        """Return the slot of a sentence that gives the present state of a known thing."""
        told = keyed(text)
        if told is None or not (told.state and told.is_stated):
            return None
        noun = told.noun.split()[-1:]
        named = self._attributes.slot(attribute=noun[0]) if noun else None
        for known, _ in self._facts:
            is_its = known.attribute == named.attribute if named else told.is_certain
            if is_its and known.thing and known.thing.code == told.code and known.thing.state:
                return self._attributes.slot(
                    subject=known.subject,
                    attribute=known.attribute,
                    value=f"{told.number} {told.state}",
                )
        return None
