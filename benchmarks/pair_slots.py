"""The slots of the labelled pairs, as a caller would give them; never looks at a pair's label.

ParaRel's texts are templates around a subject and an object, so its slots are read from the texts
with one set of patterns a relation. Those of LongMemEval stand in ``longmemeval_slots.jsonl``,
filled in by hand as a model that calls the tool would: from one text alone, without the other; a
text that only points at what it is about ("it", "them") has none. Where the session that the turn
was said in names it, ``in_session`` holds what a model that sees its own session would give.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["GivenSlot", "PairSlots", "SlotSource"]

_BY_HAND = Path(__file__).with_name("longmemeval_slots.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenSlot:
    """What a caller says beside the text; field names as ``add_contact_note`` has them."""

    attribute: str
    value: str
    subject: str | None = None
    single_valued: bool | None = None


@dataclass(frozen=True, slots=True)
class PairSlots:
    """The slots of the two texts; None where one has none."""

    fact: GivenSlot | None = None
    note: GivenSlot | None = None

    def __bool__(self) -> bool:
        """Whether either text has one."""
        return bool(self.fact or self.note)


@dataclass(frozen=True, slots=True)
class _Relation:
    """A relation of ParaRel, and how its templates say it.

    Wikidata lets some of them hold several objects (an employer, a record label, the language of
    a work). Here each holds one: what the source calls an update is a change of the object.
    """

    attribute: str
    patterns: tuple[str, ...]

    def read(self, text: str) -> GivenSlot | None:
        """The slot, where the text is one of the relation's templates."""
        for pattern in self.patterns:
            if found := re.fullmatch(pattern, text.removesuffix(".")):
                return GivenSlot(
                    subject=found["subject"],
                    attribute=self.attribute,
                    value=found["value"],
                    single_valued=True,
                )
        return None


def _relation(attribute: str, *templates: str) -> _Relation:
    """``SUBJECT`` and ``VALUE`` stand for the shortest texts that fit."""
    patterns = (
        each.replace("SUBJECT", "(?P<subject>.+?)").replace("VALUE", "(?P<value>.+?)")
        for each in templates
    )
    return _Relation(attribute, tuple(patterns))


_LANGUAGE = ("VALUE (?:is|was) the language of SUBJECT", "The language of SUBJECT (?:is|was) VALUE")

# In the order in which they are tried where an id names no relation: there, "the language of" is
# P364, because the other text of such a pair is a template that P407 alone has.
RELATIONS = {
    "P36": _relation(
        "capital",
        "The capital(?: city)? of SUBJECT is VALUE",
        "VALUE(?:, that)? is the capital(?: city)? of SUBJECT",
        "SUBJECT's capital(?: city)? is VALUE",
    ),
    "P103": _relation(
        "native_language",
        "The (?:mother tongue|native language) of SUBJECT is VALUE",
        "VALUE is SUBJECT's (?:mother tongue|native language)",
    ),
    "P364": _relation(
        "original_language", "The original language of SUBJECT (?:is|was) VALUE", *_LANGUAGE
    ),
    "P407": _relation(
        "language_of_work",
        *_LANGUAGE,
        "SUBJECT (?:is|was) written in the VALUE language",
        "SUBJECT (?:is|was) written in VALUE",
        "SUBJECT (?:is|was) a work in the VALUE language",
        "SUBJECT (?:is|was) an? VALUE-language work",
    ),
    "P19": _relation(
        "place_of_birth",
        "SUBJECT (?:is|was) an? VALUE-born person",
        "SUBJECT was born in VALUE",
        "SUBJECT (?:is|was) (?:originally from|native to) VALUE",
    ),
    "P20": _relation("place_of_death", "SUBJECT died (?:in|at) VALUE"),
    "P108": _relation("employer", "SUBJECT (?:is employed by|works for) VALUE"),
    "P159": _relation(
        "headquarters",
        "The headquarters? of SUBJECT is(?: located)? in VALUE",
        "SUBJECT's headquarters are in VALUE",
        "SUBJECT is (?:headquartered|based) in VALUE",
        "VALUE (?:is home to|has the headquarters of) SUBJECT",
    ),
    "P176": _relation(
        "manufacturer", "SUBJECT is (?:developed by|created by|produced by|a product of) VALUE"
    ),
    "P264": _relation(
        "record_label",
        "The music label (?:that is )?representing SUBJECT is VALUE",
        "SUBJECT's (?:music |record )?(?:label|company) is VALUE",
        "SUBJECT is represented by (?:(?:music|record) label )?VALUE",
    ),
    "P413": _relation(
        "playing_position",
        "SUBJECT plays in the position of VALUE",
        "SUBJECT plays in VALUE position",
        "SUBJECT plays as VALUE",
    ),
    "P740": _relation(
        "place_of_formation",
        "SUBJECT (?:that )?was (?:created|formed|founded|started) in VALUE",
        "SUBJECT formed in VALUE",
    ),
}


class SlotSource:
    """Every slot that can be had for the pairs.

    Args:
        sees_session: whether the slots of LongMemEval may use the session around a turn.
    """

    def __init__(self, *, sees_session: bool = False) -> None:
        self._by_hand = dict(_read_by_hand(sees_session))

    def slots(self, pair: dict[str, Any]) -> PairSlots:
        """The slots of a pair's two texts, read from its id and its texts."""
        source, _, rest = pair["id"].partition(":")
        if source == "pararel":
            relation = rest.partition("-")[0]
            return PairSlots(_pararel(relation, pair["a"]), _pararel(relation, pair["b"]))
        return self._by_hand.get(pair["id"], PairSlots())


def _pararel(relation: str, text: str) -> GivenSlot | None:
    """By the relation that the id names; an id that names none belongs to a pair of two."""
    named = RELATIONS.get(relation)
    tried = [named] if named else list(RELATIONS.values())
    return next((slot for each in tried if (slot := each.read(text))), None)


def _read_by_hand(sees_session: bool) -> Iterator[tuple[str, PairSlots]]:
    for line in _BY_HAND.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        seen = row.get("in_session", {}) if sees_session else {}
        sides = [seen.get(side) or row[side] for side in ("fact_slot", "note_slot")]
        yield row["id"], PairSlots(*(GivenSlot(**side) if side else None for side in sides))
