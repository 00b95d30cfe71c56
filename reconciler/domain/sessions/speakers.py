"""Speakers: finds the contact among several people in a conversation. Pure.

A memory is about one contact. Another person's words as a user are not the contact's words. So they
are kept under the role ``system``, like information for the agent, which is not evidence. A
message's ``name`` names the speaker, or a label before the words: "[Alice]: …", "Alice: …". If two
people speak, and the caller does not say who they are, the conversation is refused.

"Budget: 40k" has a label as well, but is the contact's own. Things are distinguished from people by
the known attributes, by ``config/lexicon/speakers.toml`` and by the words after the label.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from reconciler.domain.records.candidates import Role, Turn
from reconciler.domain.records.notes import one_of
from reconciler.errors import InvalidSessionError
from reconciler.reading.lexicon import Cues, lexicon

_WORD = r"[^\W\d_][\w.'’-]{0,30}"
_LABEL = re.compile(
    rf"^(?:\[(?P<marked>[^\]\[\n:]{{1,60}})\]|(?P<plain>{_WORD}(?: {_WORD}){{0,2}})):[ \t]+",
    re.MULTILINE,
)
_LETTERS = re.compile(r"[^\W\d_]+")
_IsAttribute = Callable[[str], bool]

_TOLD_MAX = 20
_READ_MAX = 500
"""The number of characters after a label that show whether they are speech."""


def turns_of_one_contact(
    turns: Sequence[Turn],
    contact_name: str | None,
    is_attribute: _IsAttribute = lambda _: False,
    speakers: Mapping[str, str] | None = None,
) -> list[Turn]:
    """Return the turns, with only one person's words as the contact's.

    Args:
        turns: the turns in their order.
        contact_name: the contact's name in them; None if one person speaks, or with ``speakers``.
        is_attribute: says whether a label names an attribute, and no person.
        speakers: the role of each person who speaks as a user, by name; a contact may have several
            names. None if ``contact_name`` is enough.

    Raises:
        InvalidSessionError: several people speak as users and the caller does not say who they are,
            or a name belongs to no speaker, or a speaker has no role.
    """
    if contact_name is not None and (not isinstance(contact_name, str) or not contact_name.strip()):
        raise InvalidSessionError("contact_name must be a name as the messages write it, or None")
    if speakers is not None:
        if contact_name is not None:
            raise InvalidSessionError("give either contact_name or speakers, not both")
        roles = {name: _role(name, who) for name, who in _by_name(speakers).items()}
        return _in_their_roles(turns, roles, is_attribute)
    named = () if contact_name is None else (_name_key(contact_name),)
    people = _speakers(turns, named, is_attribute)
    if not named and len(people) > 1:
        raise InvalidSessionError(
            f"{_listed(people)} speak as users, but a memory is about one contact. Name the "
            "contact with contact_name (on the command line: --contact-name), or give each name a "
            "role with speakers (--speaker), or give the messages of the others another role. If "
            "the names are labels and not people, give each message its speaker's name"
        )
    if not named or not people:
        return list(turns)
    if named[0] not in people:
        raise InvalidSessionError(
            f"{contact_name!r} says no user turn; contact_name must be one of {_listed(people)}"
        )
    is_alone = len(people) == 1
    return [
        _heard(part, Role.CONTACT if is_alone or _name_key(part.name or "") in named else None)
        for turn in turns
        for part in _parts(turn, people)
    ]


_CONTACT = "contact:"


def roles_by_contact(speakers: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return, for each contact that ``contact:ID`` names, the roles of all speakers, by name.

    Another contact's words are not evidence there: each contact speaks only for themselves.

    Raises:
        InvalidSessionError: the roles name no contact, or a contact without an id.
    """
    given = _by_name(speakers)
    contacts = dict.fromkeys(who for who in given.values() if who.startswith(_CONTACT))
    others = {name: _role(name, who) for name, who in given.items() if who not in contacts}
    if not contacts or Role.CONTACT in others.values():
        raise InvalidSessionError(
            "speakers must name each contact who speaks, as contact:ID (on the command line: "
            "--speaker NAME=contact:ID, or --contact for one contact)"
        )
    return {
        contact.removeprefix(_CONTACT): {
            name: Role.CONTACT if who == contact else others.get(name, Role.SYSTEM)
            for name, who in given.items()
        }
        for contact in contacts
    }


def _by_name(speakers: object) -> dict[str, str]:
    """Return the given values of each speaker, by folded name."""
    given = speakers if isinstance(speakers, Mapping) else {"": ""}
    folded = {_name_key(str(name)): str(who) for name, who in given.items()}
    if len(folded) < len(given) or given is not speakers:
        raise InvalidSessionError("speakers must map each speaker's name to a role, each name once")
    return folded


def _role(name: str, who: str) -> Role:
    return one_of(Role, f"the role of {name!r}", who, InvalidSessionError)


def _in_their_roles(
    turns: Sequence[Turn], roles: Mapping[str, Role], is_attribute: _IsAttribute
) -> list[Turn]:
    """Return the turns, those of users in the roles of the people who speak them.

    Raises:
        InvalidSessionError: a speaker has no role, or no user turn says who speaks.
    """
    people = _speakers(turns, roles, is_attribute)
    missing = {key: name for key, name in people.items() if key not in roles}
    if missing:
        raise InvalidSessionError(
            f"{_listed(missing)} has no role: give every name a role with speakers (on the command "
            "line: --speaker NAME=ROLE). The role is contact, operator (a colleague) or agent; "
            "for any other speaker give system; then their words are not used as evidence"
        )
    if not people and any(turn.role is Role.CONTACT for turn in turns):
        raise InvalidSessionError(
            "no user turn says who speaks: give each message a name, or leave out speakers"
        )
    own = next((people[key] for key in people if roles[key] is Role.CONTACT), None)
    heard = (
        _heard(part, roles.get(_name_key(part.name or "")))
        for turn in turns
        for part in _parts(turn, people)
    )
    return [replace(turn, name=own) if turn.role is Role.CONTACT else turn for turn in heard]


@dataclass(slots=True)
class _SpeakerLabel:
    """All texts after one label, in all turns."""

    name: str
    is_marked: bool = False
    begins_turn: bool = False
    texts: list[str] = field(default_factory=list)

    def is_said(self) -> bool:
        """True if any part of the text reads as speech, and not as an entry of a list."""
        return any(_reads_as("speech", text) for text in self.texts)

    def is_answered(self) -> bool:
        """True if a turn begins with this name, and more than amounts follow."""
        return self.begins_turn and not all(_reads_as("amount", text) for text in self.texts)


def _speakers(
    turns: Sequence[Turn], named: Collection[str], is_attribute: _IsAttribute
) -> dict[str, str]:
    """Find the people who speak as users, by folded name.

    A label is a person's if it is marked ("[Bob]: …"), a given name or named by the caller; a name
    that is also a word needs speech after it. If a person is named and has a label or a name, any
    other label is another person's if speech follows it, or if a turn begins with it. Otherwise it
    is a person's only under two conditions: every turn has a label and no user turn holds this
    label in small letters; and there is also a person, or one of the labels speaks more than once.
    """
    said = [turn for turn in turns if turn.role is Role.CONTACT]
    speakers: dict[str, str] = {_name_key(turn.name): turn.name for turn in said if turn.name}
    labelled = _labelled([turn for turn in said if not turn.name])
    others: dict[str, _SpeakerLabel] = {}
    for key, label in labelled.items():
        if _is_persons(key, label, named, is_attribute):
            speakers.setdefault(key, label.name)
        elif not _is_thing(key, is_attribute) or _is_given(key):
            others[key] = label
    if not speakers.keys().isdisjoint(named):
        chosen = {key: label for key, label in others.items() if _is_others(label)}
    else:
        chosen = _talking(others, said, is_beside_a_person=bool(speakers))
    return speakers | {key: label.name for key, label in chosen.items()}


def _is_persons(
    key: str, label: _SpeakerLabel, named: Collection[str], is_attribute: _IsAttribute
) -> bool:
    """True if a label by itself is a person's."""
    if key in named:
        return True
    is_thing = _is_thing(key, is_attribute)
    if not _is_given(key):
        return label.is_marked and not is_thing
    words = lexicon("speakers").word_set("name_and_word")
    if is_thing and key in words:  # a month: May, June
        return label.is_marked and label.is_said()
    is_word = key.partition(" ")[0] in words
    return label.is_marked or label.is_said() or (not is_word and label.is_answered())


def _is_others(label: _SpeakerLabel) -> bool:
    """True if the label is another person's, if the named contact has a label too."""
    words = label.name.split()
    if len(words) > 1 and words[-1].islower():  # "By the way: …"
        return False
    return label.is_said() or (not _is_given(_name_key(label.name)) and label.is_answered())


def _talking(
    labels: Mapping[str, _SpeakerLabel], said: Sequence[Turn], *, is_beside_a_person: bool
) -> dict[str, _SpeakerLabel]:
    """Return the labels that are people's, judged by the labels of all user turns."""
    if not all(turn.name or _LABEL.match(turn.text) for turn in said):
        return {}
    words = {word for turn in said for word in _LETTERS.findall(turn.text) if word.islower()}
    left = {
        key: label
        for key, label in labels.items()
        if not _is_given(key) and words.isdisjoint(key.split())
    }
    is_talk = any(label.is_said() and len(label.texts) > 1 for label in left.values())
    return {
        key: label
        for key, label in left.items()
        if (label.is_answered() if is_beside_a_person else is_talk and label.is_said())
    }


def _is_given(key: str) -> bool:
    """True if the label begins with a given name."""
    return key.partition(" ")[0] in _given_names()


def _labelled(turns: Sequence[Turn]) -> dict[str, _SpeakerLabel]:
    """Return the texts after each label, by folded name."""
    made: dict[str, _SpeakerLabel] = {}
    for turn in turns:
        labels = list(_LABEL.finditer(turn.text))
        ends = [*(label.start() for label in labels[1:]), len(turn.text)]
        for label, end in zip(labels, ends, strict=False):
            name = _label(label)
            entry = made.setdefault(_name_key(name), _SpeakerLabel(name))
            entry.is_marked |= label["marked"] is not None
            entry.begins_turn |= label.start() == 0
            entry.texts.append(turn.text[label.end() : end].strip())
    return made


def _is_thing(label: str, is_attribute: _IsAttribute) -> bool:
    """True if a label names a thing: a note, a city, a day; also true of one without a word."""
    words = _LETTERS.findall(label)
    return (
        not words
        or is_attribute(label)
        or not lexicon("speakers").word_set("thing").isdisjoint((label, *words, *label.split()))
    )


@cache
def _given_names() -> frozenset[str]:
    own = lexicon("speakers").word_set("given_name", "name_and_word")
    return own.union(map(_name_key, lexicon("slots").words("first_name")))


def _reads_as(name: str, text: str) -> bool:
    text = text[:_READ_MAX]
    return _cues().read(text).first(name) is not None


@cache
def _cues() -> Cues:
    return Cues(
        lexicon("speakers"),
        names=("speech", "amount"),
        flags=re.IGNORECASE,
    )


def _parts(turn: Turn, speakers: Mapping[str, str]) -> Iterator[Turn]:
    """Divide a turn into pieces, one for each speaker's label, without the labels."""
    if turn.role is not Role.CONTACT or turn.name:
        yield turn
        return
    labels = [label for label in _LABEL.finditer(turn.text) if _name_key(_label(label)) in speakers]
    begins = [0, *(label.end() for label in labels)]
    ends = [*(label.start() for label in labels), len(turn.text)]
    names = [None, *(speakers[_name_key(_label(label))] for label in labels)]
    for begin, end, name in zip(begins, ends, names, strict=True):
        if text := turn.text[begin:end].strip():
            yield replace(turn, text=text, name=name) if labels else turn


def _heard(turn: Turn, role: Role | None) -> Turn:
    """Return a user's turn in its speaker's role; without a role it is not evidence."""
    if turn.role is not Role.CONTACT or role is Role.CONTACT:
        return turn
    text = f"{turn.name}: {turn.text}" if turn.name else turn.text
    return replace(turn, role=role or Role.SYSTEM, text=text)


def _label(label: re.Match[str]) -> str:
    return str(label["marked"] or label["plain"]).strip()


def _name_key(name: str) -> str:
    return " ".join(name.casefold().split())


def _listed(speakers: Mapping[str, str]) -> str:
    told = [repr(name) for name in speakers.values()][:_TOLD_MAX]
    return ", ".join(told) + (" and others" if len(speakers) > _TOLD_MAX else "")
