"""Procedures: how a way of doing something is put as a note, and read back from a fact. Pure.

A procedure is a fact of its own subject, one value under its name, so that a new version takes the
old one's place. Whether it is applied is decided elsewhere, by a person.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from reconciler.domain.records.facts import FactHistory
from reconciler.domain.records.kinds import Category
from reconciler.domain.records.notes import TEXT_LENGTH_MAX, check_text
from reconciler.domain.records.scope import SCOPE_PART_LENGTH_MAX
from reconciler.domain.records.slots import Slot
from reconciler.domain.values.text import text
from reconciler.errors import InvalidNoteError

__all__ = ["SUBJECT", "Procedure", "procedure_of", "procedure_slot", "procedure_text"]

SUBJECT = "(procedure)"
"""What a slot of a procedure is about. No caller's words make it: folded, they lose the brackets.
So nothing that is said in passing takes an approved procedure's place."""

_SUFFIX = "_steps"
_STEP_COUNT_MAX = 100
_NOT_IN_A_NAME = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """How something is done, as an operator approved it.

    Attributes:
        name: in snake_case.
        version: its place among the versions of that name, from 1.
        steps: what is done, in order.
        fact_id: the fact that it is kept as.
    """

    name: str
    version: int
    steps: tuple[str, ...]
    fact_id: str


def procedure_slot(name: str, steps: Sequence[str]) -> Slot:
    """The question how something is done, and one answer to it.

    Under one name there is one way; another name is another question, however alike two ways sound.

    Raises:
        InvalidNoteError: the name says nothing, there is no step, or one of them cannot be kept.
    """
    check_text("a procedure's name", name, SCOPE_PART_LENGTH_MAX)
    if isinstance(steps, str) or not steps:
        raise InvalidNoteError("steps must be a list of at least one sentence")
    for each in islice(steps, _STEP_COUNT_MAX + 1):
        check_text("a step", each, TEXT_LENGTH_MAX)
    if len(steps) > _STEP_COUNT_MAX:
        raise InvalidNoteError(
            f"the procedure has {len(steps):,} steps, at most {_STEP_COUNT_MAX} are kept"
        )
    own_name = _NOT_IN_A_NAME.sub("_", name.casefold()).strip("_")
    if not own_name:
        raise InvalidNoteError(f"the procedure's name {name!r} holds no letter or digit")
    value = "\n".join(" ".join(each.split()) for each in steps)
    return Slot(
        subject=SUBJECT,
        # Without an ending of its own, how to reset a password would pass for a password.
        attribute=f"{own_name}{_SUFFIX}",
        value=value,
        value_key=text(f"{own_name} {value}"),
        is_single_valued=True,
        is_known=True,
    )


def procedure_text(slot: Slot) -> str:
    """The procedure in a sentence for each step, as people are asked about it."""
    name = (slot.attribute or "").removesuffix(_SUFFIX).replace("_", " ")
    steps = (slot.value or "").split("\n")
    listed = " ".join(f"{place}. {each.rstrip('.')}." for place, each in enumerate(steps, 1))
    # Not "how to", which a short name makes read like a command to the agent.
    return f"The way to {name}: {listed}"


def procedure_of(chain: FactHistory, now: datetime) -> Procedure | None:
    """The procedure that a chain of facts ends in, if it does.

    A live fact of this category was approved: the gate lets none through without it.
    """
    fact, slot = chain.facts[0], chain.facts[0].slot
    is_one = fact.as_of(now).is_live and fact.category is Category.PROCEDURE
    if not is_one or slot is None or slot.subject != SUBJECT or slot.value is None:
        return None
    return Procedure(
        name=(slot.attribute or "").removesuffix(_SUFFIX),
        version=1 + sum(not each.is_restatement for each in chain.supersessions),
        steps=tuple(slot.value.split("\n")),
        fact_id=fact.fact_id,
    )
