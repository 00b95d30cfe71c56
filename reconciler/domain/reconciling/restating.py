"""A fact's inheritance: from the fact that it restates, or from being said once more.

Pure. The confidence algebra, what a restatement inherits, and what a lifetime becomes stand here
and nowhere else; the commit writes what these functions return. The version check makes that sound:
no writer changed the older fact since it was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

from reconciler.domain.guard import holds_no_more, names_before, says_beside
from reconciler.domain.records.candidates import CONTACT
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import (
    Action,
    Category,
    FactState,
    RecallSemantics,
    Sensitivity,
    SourceKind,
)
from reconciler.domain.records.notes import Remembered
from reconciler.domain.records.slots import Slot

__all__ = [
    "confirmed",
    "expiry_of",
    "holds_value",
    "observed",
    "restating",
    "taking_over",
    "with_slot_of",
    "without_ended_value",
    "written_fact",
]

_BROUGHT = tuple(field.name for field in fields(Remembered))

_WORDS = re.compile(r"\w+")
_LATEST = datetime(9999, 12, 30, tzinfo=UTC)
"""A lifetime is cut here: an export takes no later time."""

_FILLS_SLOTS = SourceKind.EXTRACTOR
"""A less trusted source fills no slot."""


def written_fact(
    decision: Decision, holds_to: datetime | None = None, *, restates: Fact | None = None
) -> Fact:
    """The fact that an ADD or an UPDATE writes, before it takes anything over.

    Args:
        decision: what was decided; its ``fact_id`` names the new fact.
        holds_to: from when something newer holds, where the fact is history from the start (UTC).
        restates: the fact that it says again; what the gate judged does not make that matter less.
    """
    note, assessment = decision.note, decision.gate
    assert decision.fact_id is not None, "what is written has an id"  # noqa: S101
    given = {name: getattr(note, name) for name in _BROUGHT}
    brought = {name: value for name, value in given.items() if value is not None}
    if restates is not None and assessment is not None and assessment.importance is not None:
        brought["importance"] = max(assessment.importance, restates.importance)
    return Fact(
        **brought,
        fact_id=decision.fact_id,
        trust=note.trust,
        observations=1,
        recorded_at=decision.at,
        valid_from=note.holds_from,
        valid_to=holds_to,
        last_confirmed_at=note.said_at,
        state=FactState.SUPERSEDED if decision.is_history else FactState.LIVE,
        is_contested=decision.verdict.is_contested,
        category=assessment.category if assessment else Category.FACT,
        topic=assessment.topic if assessment else None,
        confidence=assessment.confidence if assessment else 1.0,
        sensitivity=assessment.sensitivity if assessment else Sensitivity.NONE,
        is_redacted=assessment.is_redacted if assessment else False,
        recall_semantics=assessment.recall_semantics if assessment else RecallSemantics.DEFAULT,
        yields_to_live_intent=assessment.yields_to_live_intent if assessment else False,
        expires_at=expiry_of(decision),
        is_confirmed_by_user=_is_contacts_answer(decision),
    )


def restating(new: Fact, old: Fact, *, is_read_again: bool) -> Fact:
    """The new fact with all that it takes over from the one that it restates.

    It keeps counting where the old one stopped. A standing decision stays one, with its lifetime,
    and what a volatile remark says again is no more volatile for that; it holds since the old one
    does, unless a date was given; of two lifetimes the longer one holds; what a note may bring,
    such as a slot, and a sensitivity are inherited where the new fact has none.

    Args:
        new: as ``written_fact`` gives it.
        old: the fact that it takes the place of.
        is_read_again: whether the old fact rests on the same episode already, which then neither
            counts again nor makes surer.
    """
    is_standing = old.category is Category.DECISION
    keeps_category = is_standing or new.category is Category.VOLATILE
    return replace(
        new,
        **{name: getattr(old, name) for name in _BROUGHT if getattr(new, name) is None},
        first_held_from=_held_since(new, old),
        observations=old.observations + (not is_read_again),
        confidence=(
            max(old.confidence, new.confidence)
            if is_read_again
            else _surer(old.confidence, new.confidence)
        ),
        is_confirmed_by_user=new.is_confirmed_by_user or old.is_confirmed_by_user,
        category=old.category if keeps_category else new.category,
        recall_semantics=old.recall_semantics if is_standing else new.recall_semantics,
        yields_to_live_intent=(
            old.yields_to_live_intent if is_standing else new.yields_to_live_intent
        ),
        expires_at=(
            old.expires_at
            if is_standing
            else _later(_renewed(old, new.last_confirmed_at), new.expires_at)
        ),
        sensitivity=(old.sensitivity if new.sensitivity is Sensitivity.NONE else new.sensitivity),
        last_confirmed_at=max(old.last_confirmed_at, new.last_confirmed_at),
        recall_count=old.recall_count,
        last_recalled_at=old.last_recalled_at,
    )


def _held_since(new: Fact, old: Fact) -> datetime | None:
    has_break = old.valid_to is not None and old.valid_to < new.valid_from
    is_given = new.valid_from != new.last_confirmed_at
    return None if has_break or is_given else min(old.holds_since, new.valid_from)


def confirmed(fact: Fact, by: Decision) -> Fact:
    """The fact after one more episode that says it already: a SKIP. It may have renewed it.

    A tool that repeats a fact is counted, and adds no confidence.
    """
    is_past_its_end = fact.valid_to is not None and fact.valid_to <= by.note.said_at
    renewed = replace(
        observed(fact),
        slot=fact.slot or _slot_told_by(fact, by),
        confidence=_surer(fact.confidence, _confirming_confidence(by)),
        is_confirmed_by_user=fact.is_confirmed_by_user or _is_contacts_answer(by),
        expires_at=(
            _later(expiry_of(by), _renewed(fact, by.note.said_at))
            if by.gate and (fact.valid_to is None or is_past_its_end)
            else fact.expires_at
        ),
        last_confirmed_at=max(fact.last_confirmed_at, by.note.said_at),
        state=FactState.LIVE,
        valid_to=None if is_past_its_end else fact.valid_to,
    )
    return renewed.as_of(by.at)


def _slot_told_by(fact: Fact, by: Decision) -> Slot | None:
    """The slot that came with what was said, where the fact's own words hold its value.

    Else a tool could file under any slot what the contact said, and end by it what is there.
    """
    slot = by.note.slot
    if slot is None or by.note.trust.is_trusted_less_than(_FILLS_SLOTS):
        return None
    return slot if holds_value(fact.text, slot) else None


def with_slot_of(new: Fact, old: Fact) -> Fact:
    """The new fact, which took the old one's place, in its slot where it holds the same value.

    "works at acme!" tells no reader of slots that acme is an employer; the fact before it did. What
    names that value as the one before, and says more, would be filed under what it ends: "left
    Acme, and joined Globex".
    """
    slot = old.slot
    if new.slot is not None or slot is None or not holds_value(new.text, slot):
        return new
    value = slot.value or ""
    is_over = holds_no_more(new.text, value, slot.attribute or "")
    is_before = is_over or names_before(new.text, value)
    says_more = bool(says_beside(new.text, old.text, value))
    return new if is_before and says_more else replace(new, slot=slot)


def without_ended_value(new: Fact, ended: Iterable[Fact]) -> Fact:
    """The new fact, which holds no value that one of those has that it ends.

    Where its words say that the value is over, it stays: they are read, and decide what it is
    compared with. A model may say it of words that nothing here reads.
    """
    slot = new.slot
    if slot is None or slot.value is None:
        return new
    if holds_no_more(new.text, slot.value, slot.attribute or ""):
        return new
    filed = {(fact.slot.subject, fact.slot.value_key) for fact in ended if fact.slot}
    if (slot.subject, slot.value_key) not in filed:
        return new
    return replace(new, slot=replace(slot, value=None, value_key=None))


def holds_value(text: str, slot: Slot | None) -> bool:
    """Whether the slot's value stands in the text, word for word but for case and marks."""
    if slot is None:
        return False
    words = f" {' '.join(_WORDS.findall(text.casefold()))} "
    value = f" {' '.join(_WORDS.findall((slot.value or '').casefold()))} "
    return bool(value.strip()) and value in words


def observed(fact: Fact) -> Fact:
    """The fact, counted again: an older note said the same, and lies beneath it."""
    return replace(fact, observations=fact.observations + 1)


def taking_over(stays: Fact, goes: Fact) -> Fact:
    """The fact that stays, after a person noticed that the other one says the same.

    Both were said, so both count; of two lifetimes the longer one holds.
    """
    last = max(stays.last_confirmed_at, goes.last_confirmed_at)
    return replace(
        stays,
        slot=stays.slot or (goes.slot if holds_value(stays.text, goes.slot) else None),
        observations=stays.observations + goes.observations,
        confidence=_surer(stays.confidence, goes.confidence),
        is_confirmed_by_user=stays.is_confirmed_by_user or goes.is_confirmed_by_user,
        expires_at=_later(_renewed(goes, last), _renewed(stays, last)),
        last_confirmed_at=last,
    )


def expiry_of(decision: Decision) -> datetime | None:
    """From when what it remembers may have changed (UTC); None for never.

    That counts from when it was said, or from the day ahead on which it begins.
    """
    days, note = decision.gate.lifetime_days if decision.gate else None, decision.note
    begins = note.holds_from if decision.is_ahead else note.said_at
    return None if days is None else _after(begins, timedelta(days=days))


def _renewed(fact: Fact, said_at: datetime) -> datetime | None:
    """Until when the fact lives if it is said again then: its own lifetime, counted from there.

    So what is said again in passing lives no shorter for that. A known end stays.
    """
    if fact.expires_at is None or fact.valid_to is not None:
        return fact.expires_at
    return _after(fact.expires_at, max(said_at - _counts_from(fact), timedelta(0)))


def _after(begins: datetime, span: timedelta) -> datetime:
    """The time so long after the other one; the latest one that is kept, where there is none."""
    return begins + min(span, max(_LATEST - begins, timedelta(0)))


def _counts_from(fact: Fact) -> datetime:
    """From when its lifetime counts: when it was last said, or from the day on which it begins."""
    return max(fact.valid_from, fact.last_confirmed_at)


def _confirming_confidence(decision: Decision) -> float:
    is_weak = decision.note.trust.is_trusted_less_than(SourceKind.EXTRACTOR)
    return 0.0 if decision.gate is None or is_weak else decision.gate.confidence


def _is_contacts_answer(decision: Decision) -> bool:
    """Whether the contact was asked, and said yes."""
    is_kept = decision.action in (Action.ADD, Action.UPDATE, Action.SKIP, Action.RESOLVE)
    return decision.proposal.answered_by == CONTACT and is_kept


def _surer(one: float, other: float) -> float:
    """The combined confidence of two independent statements, each in [0, 1]."""
    return 1 - (1 - one) * (1 - other)


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    """The later of two ends; None, which is never, before any."""
    return None if one is None or other is None else max(one, other)
