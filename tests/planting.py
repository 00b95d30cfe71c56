"""Plants secrets in every field of every door, and looks for them in all that is kept or said.

A secret is planted in a notation, and each has a value of its own, so that what is found again says
where it came in. Which fields a door has is read off its signature or its record: one that is new
and that no test plants is a failure.
"""

from __future__ import annotations

import dataclasses
import inspect
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from reconciler.errors import ReconcilerError
from reconciler.service.writing.doors import NoteFields

__all__ = [
    "DIGITS",
    "KINDS",
    "NOTATIONS",
    "Planted",
    "Planter",
    "fields_of_record",
    "text_parameters",
]

NOTATIONS: Mapping[str, str] = {
    "JSON in JSON": r"{\"access_token\": \"%s\"}",
    "environment": "DB_PASSWORD=%s",
    "said": "%s is my password",
    "number": '{"pin": %s}',
    "nested": '{"password": {"value": "%s"}}',
}
KINDS: Mapping[str, str] = {
    "gate": "The gate opens with %s.",
    "locker in JSON": '{"locker": 12, "code": %s}',
    "IBAN": "Refund to %s, please.",
    "card": "Card %s",
    "API key": "Use sk-proj-%sAbCdEfGh0123456789 here",
    "private key": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN%s\n-----END PRIVATE KEY-----",
    "address with a token": "https://shop.example/a?x=1&access_token=%s",
    "address with a login": "https://ann:%s@files.example/a",
}
"""What else must not be kept, each as it is usually told."""

_TEMPLATES = {**NOTATIONS, **KINDS}
DIGITS = frozenset({"number", "gate", "locker in JSON"})
"""Notations of a value in digits."""

_WORDS = ("str", "Turn", "Sequence")


@dataclass(frozen=True)
class Planted:
    """One secret: through which door, in which field, in which notation."""

    door: str
    field: str
    notation: str
    value: str

    @property
    def text(self) -> str:
        return _TEMPLATES[self.notation] % self.value

    @property
    def forms(self) -> tuple[str, str]:
        """The value as it was planted and without its blanks, in small letters."""
        folded = self.value.casefold()
        return folded, folded.replace(" ", "")

    def __str__(self) -> str:
        return f"{self.door}.{self.field} as {self.notation}"


@dataclass
class Planter:
    """Plants, and remembers what was said about it.

    Args:
        notations: in which every field is planted.
        in_turn: of these each field has the next ones.
        a_turn: how many of them that are.
    """

    notations: Iterable[str] = tuple(NOTATIONS)
    in_turn: Sequence[str] = ()
    a_turn: int = 1
    planted: list[Planted] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def plant(self, door: str, name: str) -> Iterator[Planted]:
        """A secret for each notation."""
        before = self.a_turn * len({(each.door, each.field) for each in self.planted})
        places = range(before, before + self.a_turn) if self.in_turn else ()
        turn = [self.in_turn[place % len(self.in_turn)] for place in places]
        for notation in (*self.notations, *turn):
            made = Planted(door, name, notation, _value(notation, next(self._numbers)))
            self.planted.append(made)
            yield made

    def call(self, call: Callable[[], Any]) -> None:
        """What the call says, or how it refuses, is kept to be looked through."""
        try:
            self.said.append(repr(call()))
        except ReconcilerError as error:
            self.said.append("".join(traceback.format_exception(error)))

    def walk(
        self, door: str, call: Callable[..., Any], usual: Mapping[str, Any], **fixed: Any
    ) -> None:
        """Call a door once for each of its fields and each notation, with a secret in the field."""
        for name, value in usual.items():
            for each in self.plant(door, name):
                given = {**usual, name: _in_place_of(value, each.text)}
                self.call(lambda given=given: call(**fixed, **given))

    def found_in(self, *texts: str) -> list[str]:
        """Which of the secrets stand in the texts as they are, or with their case folded."""
        text = "\n".join([*texts, *self.said]).casefold()
        return [str(each) for each in self.planted if any(form in text for form in each.forms)]


def _value(notation: str, number: int) -> str:
    """A value that no other planting has, right by its kind's own check digits."""
    if notation == "IBAN":
        account = f"37040044{4_420_130_000 + number}"
        check = 98 - int(f"{account}131400") % 97  # D and E are 13 and 14
        return _in_fours(f"DE{check:02d}{account}")
    if notation == "card":
        digits = f"4{73_921_560_000_000 + number}"
        return _in_fours(f"{digits}{_luhn(digits)}")
    return f"{73_920_000 + number}" if notation in DIGITS else f"Quw{number:04d}xKp-Rz"


def _in_fours(text: str) -> str:
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))


def _luhn(digits: str) -> int:
    """The last digit of a card's number."""
    doubled = [int(each) * (2 - at % 2) for at, each in enumerate(reversed(digits))]
    return -sum(each - 9 * (each > 9) for each in doubled) % 10


def text_parameters(door: Callable[..., Any]) -> set[str]:
    """The parameters of a door that take words, a note's fields among them."""
    taken = {
        name: str(each.annotation) for name, each in inspect.signature(door).parameters.items()
    }
    if taken.get("fields") == "Unpack[NoteFields]":
        taken |= {name: str(kind) for name, kind in NoteFields.__annotations__.items()}
    return {name for name, kind in taken.items() if any(word in kind for word in _WORDS)}


def fields_of_record(kind: type) -> set[str]:
    """The fields of a record that take words."""
    return {
        each.name
        for each in dataclasses.fields(kind)
        if any(word in str(each.type) for word in ("str", "Sequence"))
    }


def _in_place_of(value: Any, text: str) -> Any:
    """The text where the usual value is: bare, or in a list."""
    if isinstance(value, list | tuple):
        return type(value)([text])
    return text
