"""Subjects: which known person a note's subject names, so that one person has one subject. Pure.

"Maria" and "Frau Keller" are the contact Maria Keller; "Martin", "her husband" and "husband Martin"
are one, if no other known person fits. If several fit that cannot be one person, nothing is
guessed: the subject stays as it was said, and the reply asks which of them is meant.

A subject has names and a role. A word that the texts write only in small letters is no name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations
from typing import NamedTuple

from reconciler.domain.guard.vocabulary import vocabulary
from reconciler.domain.records.slots import CONTACT_SUBJECT, Slot
from reconciler.domain.values.text import text
from reconciler.lexicon import lexicon

__all__ = ["Meant", "People"]

_OTHER_LETTERS = str.maketrans("øłđıØŁĐæœ", "oldiOLDao")
_SMALL, _CAPITAL = r"\b[a-z]\w*", r"(?<=[^\s.!?] )[A-Z]\w*"
"""A word in small letters, and one with a capital that no sentence begins with."""

_SHORTENED_LENGTH_MIN = 3
"""Letters of a name that stand for the whole of it beside another name: "Sam Ito", "Samira Ito"."""

_TEXTS_MAX = 20
"""Facts about a person whose texts are read for its names."""

_NAMING = frozenset({"name", "preferred_name"})
_TELLING = frozenset({"title", "relation", "relationship"})
"""Attributes whose values name a person, and those that say who it is to the contact."""


class Meant(NamedTuple):
    """Whom a subject means: the subjects of one person, or of several of whom one is meant.

    Attributes:
        subjects: the person's, the best one first; what was said, if that is open.
        may_be: the subjects of the people that it may be; empty if it is clear.
    """

    subjects: tuple[str, ...]
    may_be: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Person:
    """A person, or a thing, by its subject; ``also`` are other roles that facts tell of it."""

    subject: str
    names: frozenset[str]
    role: str = ""
    titles: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()


class People:
    """The contact and the people that its facts are about.

    Args:
        told: the slots of the contact's facts, each with the fact's text.
        called: what the contact is called.
        is_one_role: whether two words are one role, as "wife" and "spouse" are.
    """

    def __init__(
        self,
        told: Iterable[tuple[Slot, str]],
        called: Iterable[str | None],
        is_one_role: Callable[[str, str], bool],
    ) -> None:
        self._is_one_role = is_one_role
        about: dict[str, list[tuple[Slot, str]]] = {}
        for slot, said in told:
            if not slot.subject.startswith("("):  # a procedure's or a task's
                about.setdefault(slot.subject, []).append((slot, said))
        own = [slot for slot, _ in about.pop(CONTACT_SUBJECT, [])]
        names = {_names(each or "") for each in (*called, *_values(own, _NAMING))} - {frozenset()}
        told_of = [
            ((each.attribute or "").replace("_", " "), _names(each.value or "")) for each in own
        ]
        self._owners = self._known_names = frozenset(chain(*names))
        self._people = [_Person(CONTACT_SUBJECT, each) for each in names]
        self._people += [self._known(subject, facts, told_of) for subject, facts in about.items()]
        self._known_names |= frozenset(chain(*(person.names for person in self._people)))

    def meant_by(self, subject: str, said: str) -> Meant:
        """Whom a subject means; itself if nobody known.

        Args:
            subject: as ``AttributeBook.slot`` folds it.
            said: the note's text.
        """
        given = self._read(subject, [said])
        fits = [person for person in self._people if self._fits(given, person)]
        fits.sort(key=lambda each: (each.subject != CONTACT_SUBJECT, each.subject != subject))
        subjects = tuple(dict.fromkeys(person.subject for person in fits))
        if any(self._are_two(one, other) for one, other in combinations(fits, 2)):
            return Meant((subject,), subjects)
        if not fits and not given.role and any(_may_be_contact(given, p) for p in self._people):
            return Meant((subject,), (CONTACT_SUBJECT,))
        return Meant(subjects or (subject,))

    def _known(
        self,
        subject: str,
        facts: Sequence[tuple[Slot, str]],
        own: Iterable[tuple[str, frozenset[str]]],
    ) -> _Person:
        """A person on file, with what the contact's own facts tell of it: "spouse: Martin"."""
        slots = [slot for slot, _ in facts]
        read = self._read(subject, [said for _, said in facts[:_TEXTS_MAX]])
        names = read.names.union(*map(_names, _values(slots, _NAMING)))
        also = {*map(_compared, _values(slots, _TELLING))}
        for role, value in own:
            if self._is_one_role(read.role, role):
                names |= value
            elif names and names <= value:
                also.add(role)
        return _Person(subject, names, read.role, read.titles, frozenset(also))

    def _read(self, subject: str, texts: Iterable[str]) -> _Person:
        """Names and role of a subject; "Maria's husband" is the husband of the contact Maria."""
        words = _compared(subject).split()
        if len(words) > 1 and words[0].removesuffix("s") in self._owners - {words[0]}:
            del words[0]
        titles = _titles().intersection(words)
        words = [word for word in words if word not in titles | _for_contacts()] or words
        bare = _bare(" ".join(texts))
        small, named = ({*map(_compared, re.findall(p, bare))} for p in (_SMALL, _CAPITAL))
        small -= self._known_names.union(lexicon("slots").word_set("joining_person"))
        relatives = _relatives()
        last = max((at for at, word in enumerate(words) if word in relatives), default=-1)
        last += 2 * (last >= 0 and words[last + 1 : last + 3] == ["in", "law"])
        names = {
            word
            for at, word in enumerate(words)
            if word not in relatives and (word in named or (at > last and word not in small))
        }
        role = " ".join(word for word in words if word not in names)
        return _Person(subject, frozenset(names), role, titles)

    def _fits(self, given: _Person, known: _Person) -> bool:
        if given.titles and known.titles and given.titles.isdisjoint(known.titles):
            return False
        if not given.names:
            roles = (known.role, *known.also)
            return any(self._is_one_role(given.role, role) for role in roles)
        if known.subject == CONTACT_SUBJECT:
            is_full = len(known.names) > 1 or given.names == known.names
            return is_full and not given.role and _share_names(given, known)
        if not known.names:
            is_only = known.role in lexicon("slots").word_set("relation")
            return is_only and self._is_one_role(given.role, known.role)
        return _share_names(given, known) and not self._differ_in_role(given, known)

    def _are_two(self, one: _Person, other: _Person) -> bool:
        """Whether two cannot be one person; one without a name may be anybody of its role."""
        if one.subject == CONTACT_SUBJECT and other.role:
            return True
        if one.titles and other.titles and one.titles.isdisjoint(other.titles):
            return True
        has_names = bool(one.names and other.names)
        is_apart = has_names and not _share_names(one, other)
        return is_apart or self._differ_in_role(one, other)

    def _differ_in_role(self, one: _Person, other: _Person) -> bool:
        """Whether two relatives of the contact differ: a colleague Omar and a cousin Omar."""
        roles = [{person.role, *person.also} for person in (one, other)]
        are_told = all(_relatives().intersection(p.role.split()) for p in (one, other))
        is_one = any(self._is_one_role(mine, its) for mine in roles[0] for its in roles[1])
        return are_told and not is_one and len(one.names & other.names) < len(("full", "name"))


def _may_be_contact(given: _Person, known: _Person) -> bool:
    """Whether a longer name may be the contact's, of whom only one name is known."""
    return known.subject == CONTACT_SUBJECT and known.names < given.names


def _share_names(one: _Person, other: _Person) -> bool:
    """Whether all names of the one are names of the other, perhaps shortened beside a whole one."""
    less, more = sorted((one.names, other.names), key=len)
    shared = less & more
    return bool(shared) and all(
        any(_is_short(name, full) for full in more - shared) for name in less - shared
    )


def _is_short(one: str, other: str) -> bool:
    short, full = sorted((one, other), key=len)
    return full.startswith(short) and (len(short) == 1 or len(short) >= _SHORTENED_LENGTH_MIN)


def _values(slots: Iterable[Slot], attributes: Collection[str]) -> Iterable[str]:
    return [slot.value or "" for slot in slots if slot.attribute in attributes]


def _names(said: str) -> frozenset[str]:
    return frozenset(_compared(said).split()) - _titles()


def _bare(said: str) -> str:
    """Without accents, with its capitals."""
    if said.isascii():
        return said
    split = unicodedata.normalize("NFKD", said.translate(_OTHER_LETTERS))
    return "".join(letter for letter in split if not unicodedata.combining(letter))


def _compared(said: str) -> str:
    """As names are compared: without accents, and Jürgen and Juergen are one."""
    return re.sub("([aou])e", r"\1", text(_bare(said)).replace("_", " "))


@cache
def _titles() -> frozenset[str]:
    """Titles, as they are compared, and "M." for Monsieur."""
    return frozenset({"m", *map(_compared, lexicon("values").words("title"))})


@cache
def _for_contacts() -> frozenset[str]:
    return lexicon("values").word_set("contact_word")


@cache
def _relatives() -> frozenset[str]:
    return frozenset(map(_compared, vocabulary().relatives))
