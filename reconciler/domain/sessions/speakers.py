"""Speakers: who of several people in a conversation is its contact. Pure.

A memory is about one contact. What another person said as a user is not the contact's word, so it
is kept under the role ``system``, as something that the agent was told, which is no evidence. A
message's ``name`` says who speaks, or a label before the words: "[Alice]: …", "Alice: …". Nothing
is guessed: where two people speak, and the caller does not say which one is the contact, the
conversation is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from reconciler.domain.records.turns import Role, Turn
from reconciler.errors import InvalidSessionError
from reconciler.lexicon import lexicon

__all__ = ["turns_of_one_contact"]

_WORD = r"[^\W\d_][\w.'’-]{0,30}"
_LABEL = re.compile(
    rf"^(?:\[(?P<marked>[^\]\[\n:]{{1,60}})\]|(?P<plain>{_WORD}(?: {_WORD}){{0,2}})):[ \t]+",
    re.MULTILINE,
)
_TOLD_MAX = 5


def turns_of_one_contact(turns: Sequence[Turn], contact_name: str | None) -> list[Turn]:
    """The turns, of which only one person's are the contact's.

    Args:
        turns: in their order.
        contact_name: what the contact is called in them; None where one person speaks.

    Raises:
        InvalidSessionError: several people speak as users and the contact is not named, or the
            name is no speaker's.
    """
    if contact_name is not None and (not isinstance(contact_name, str) or not contact_name.strip()):
        raise InvalidSessionError("contact_name must be a name, as the messages have it, or None")
    speakers = _speakers([turn for turn in turns if turn.role is Role.CONTACT], contact_name)
    if contact_name is None and len(speakers) > 1:
        raise InvalidSessionError(
            f"{_listed(speakers)} speak as users, and a memory is about one contact: say which of "
            "them it is with contact_name (on the command line: --contact-name), or give the "
            "messages of the others another role"
        )
    if contact_name is None or not speakers:
        return list(turns)
    wanted = _folded(contact_name)
    if wanted not in speakers:
        raise InvalidSessionError(
            f"no user turn is said by {contact_name!r}; contact_name must be one of "
            f"{_listed(speakers)}"
        )
    is_alone = len(speakers) == 1
    return [
        _heard(part, is_the_contact=is_alone or _folded(part.name or "") == wanted)
        for turn in turns
        for part in _parts(turn, speakers)
    ]


def _speakers(turns: Sequence[Turn], contact_name: str | None) -> dict[str, str]:
    """The people who speak in turns, by folded name.

    A plain label may be anything, "Budget: 40k" too. It is a person's where it is a given name or
    the contact's; in a conversation of which every turn has a label all of them are, if one of them
    is such a name or comes back.
    """
    found: dict[str, str] = {_folded(turn.name): turn.name for turn in turns if turn.name}
    labels = [label for turn in turns if not turn.name for label in _LABEL.finditer(turn.text)]
    counted = Counter(_folded(_label(label)) for label in labels)
    names = {_folded(contact_name or ""), *map(_folded, lexicon("slots").words("first_name"))}
    is_script = all(turn.name or _LABEL.match(turn.text) for turn in turns) and any(
        count > 1 or _is_name(name, names) for name, count in counted.items()
    )
    for label in labels:
        name = _label(label)
        if label["marked"] or is_script or _is_name(_folded(name), names):
            found.setdefault(_folded(name), name)
    return found


def _is_name(name: str, names: Collection[str]) -> bool:
    return name in names or name.partition(" ")[0] in names


def _parts(turn: Turn, speakers: Mapping[str, str]) -> Iterator[Turn]:
    """A turn cut before each label of a speaker, and without it."""
    if turn.role is not Role.CONTACT or turn.name:
        yield turn
        return
    labels = [label for label in _LABEL.finditer(turn.text) if _folded(_label(label)) in speakers]
    begins = [0, *(label.end() for label in labels)]
    ends = [*(label.start() for label in labels), len(turn.text)]
    names = [None, *(speakers[_folded(_label(label))] for label in labels)]
    for begin, end, name in zip(begins, ends, names, strict=True):
        if text := turn.text[begin:end].strip():
            yield replace(turn, text=text, name=name) if labels else turn


def _heard(turn: Turn, *, is_the_contact: bool) -> Turn:
    if turn.role is not Role.CONTACT or is_the_contact:
        return turn
    text = f"{turn.name}: {turn.text}" if turn.name else turn.text
    return replace(turn, role=Role.SYSTEM, text=text)


def _label(label: re.Match[str]) -> str:
    return str(label["marked"] or label["plain"]).strip()


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


def _listed(speakers: Mapping[str, str]) -> str:
    told = [repr(name) for name in speakers.values()][:_TOLD_MAX]
    return ", ".join(told) + (" and others" if len(speakers) > _TOLD_MAX else "")
