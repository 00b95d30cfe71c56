"""Restating: what a fact inherits from the fact that it restates, and what repetition changes.

Pure. Only here are confidences combined, fields inherited and lifetimes renewed; the commit writes
what these functions return. That is sound because of the version check: no writer has changed the
older fact since it was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from reconciler.domain.records.candidates import CONTACT
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Fact, Neighbour
from reconciler.domain.records.kinds import Action, FactState, Sensitivity, SourceKind, later
from reconciler.domain.records.notes import Remembered, Slot
from reconciler.frozen import field_names, picked, present
from reconciler.reading.cues.classification import is_standing_ask
from reconciler.reading.guard import holds_no_more, names_before, says_beside
from reconciler.reading.guard.reading import read
from reconciler.reading.kinds import Category, RecallSemantics
from reconciler.reading.values.ends import end_of_today

_BROUGHT = field_names(Remembered)

_WORDS = re.compile(r"\w+")

_FILLS_SLOTS = SourceKind.EXTRACTOR
"""A less trusted source fills no slot."""


def written_fact(
    decision: Decision, holds_to: datetime | None = None, *, restates: Fact | None = None
) -> Fact:
    """The fact that an ADD or an UPDATE writes, before it inherits anything.

    Args:
        decision: the decision; its ``fact_id`` names the new fact.
        holds_to: the start of the newer fact, if this one is history from the start (UTC).
        restates: the fact that it restates; a new importance from the gate never lowers that one's.
    """
    note, judged = decision.note, decision.judged
    assert decision.fact_id is not None, "what is written has an id"  # noqa: S101
    brought = present(picked(note, _BROUGHT))
    if restates is not None and judged.importance is not None:
        brought["importance"] = max(judged.importance, restates.importance)
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
        category=judged.category,
        topic=judged.topic,
        confidence=judged.confidence,
        sensitivity=judged.sensitivity,
        is_redacted=judged.is_redacted,
        recall_semantics=_semantics(decision),
        yields_to_live_intent=judged.yields_to_live_intent,
        expires_at=expiry_of(decision),
        is_confirmed_by_user=_is_contacts_answer(decision),
    )


def _semantics(decision: Decision) -> RecallSemantics:
    """How the fact is recalled until then: only an operator's order can lift an operator's ban.

    A ban does not lift an operator's order to ask first either. Any other ban holds at once,
    against any order: a person may object at any time.
    """
    said = decision.judged.recall_semantics
    if not decision.conflicting_ids:
        return said
    is_ban, is_negated = said is RecallSemantics.NEGATIVE, bool(read(decision.text).negated)
    is_lifting = decision.note.trust is not SourceKind.OPERATOR and any(
        each.fact_id in decision.conflicting_ids
        and each.trust is SourceKind.OPERATOR
        and bool(read(each.text).negated) is not is_negated
        and (not is_ban or is_standing_ask(each.text))
        for each in decision.compared_with
    )
    return RecallSemantics.DEFAULT if is_lifting else said


def restating(new: Fact, old: Fact, *, is_read_again: bool) -> Fact:
    """Return the new fact with everything that it inherits from the fact that it restates.

    Observations continue from the old count. A standing decision stays a standing decision, with
    its lifetime, and a volatile note does not make the fact volatile. The new fact holds from the
    start of the old one, unless a date was given, and has the longer of the two lifetimes. It
    inherits the sensitivity, and fields that the note does not have, such as a slot.

    Args:
        new: the result of ``written_fact``.
        old: the fact that it replaces.
        is_read_again: whether the old fact already rests on the same episode. Then the count and
            the confidence do not grow.
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
    """Return the fact after a SKIP: one more observation, and perhaps a longer lifetime.

    A tool that repeats a fact is counted, but adds no confidence.
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
    """The slot of the note, if the fact's own words hold its value.

    Otherwise a tool could file the contact's words under any slot, and so end other facts.
    """
    slot = by.note.slot
    if slot is None or by.note.trust.is_trusted_less_than(_FILLS_SLOTS):
        return None
    return slot if holds_value(fact.text, slot) else None


def with_slot_of(new: Fact, old: Fact) -> Fact:
    """New fact in the slot of the fact that it replaces, if it holds the same value.

    The slot cannot be read from "works at acme!", but the older fact had it. A text that names the
    value as the previous one, and says more, gets no slot, because its slot would hold the value
    that it ends: "left Acme, and joined Globex".
    """
    slot = old.slot
    if new.slot is not None or slot is None or not holds_value(new.text, slot):
        return new
    value = slot.value or ""
    is_over = holds_no_more(new.text, value, slot.attribute or "")
    is_before = is_over or names_before(new.text, value)
    says_more = bool(says_beside(new.text, old.text, value))
    return new if is_before and says_more else replace(new, slot=slot)


def without_ended_value(new: Fact, ended: Iterable[Fact | Neighbour]) -> Fact:
    """New fact without its value, if it ends a fact with that value.

    The value stays if the new fact's words say that it is over, because they are read when facts
    are compared. A model may also end a fact by words that cannot be read here.
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
    """True if the text contains the slot's value, in any case and punctuation."""
    if slot is None:
        return False
    words = f" {' '.join(_WORDS.findall(text.casefold()))} "
    value = f" {' '.join(_WORDS.findall((slot.value or '').casefold()))} "
    return bool(value.strip()) and value in words


def observed(fact: Fact) -> Fact:
    """Fact with one more observation."""
    return replace(fact, observations=fact.observations + 1)


def taking_over(stays: Fact, goes: Fact) -> Fact:
    """Return the fact that stays, after a person said that the other fact says the same.

    The observations of both are added, and the longer lifetime holds.
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
    """The end of the lifetime of the fact that a decision writes (UTC); None if it has no end.

    A lifetime counts from when the note was said, or from a later day on which it begins. A note
    about only the day on which it was said ends with that day, unless a lifetime was given.
    """
    gate, note = decision.judged, decision.note
    if gate.lifetime_days is None:
        return None
    begins = note.holds_from if decision.is_ahead else note.said_at
    is_passing = gate.category is Category.VOLATILE and note.lifetime_days is None
    end = is_passing and end_of_today(note.text, begins)
    return end or later(begins, timedelta(days=gate.lifetime_days))


def _renewed(fact: Fact, said_at: datetime) -> datetime | None:
    """The end of the fact's lifetime if it is said again: its own length, counted from there.

    So a passing repetition never shortens it. A known end stays.
    """
    if fact.expires_at is None or fact.valid_to is not None:
        return fact.expires_at
    # Its lifetime starts when it was last said, or on a later day on which it begins.
    return later(
        fact.expires_at, max(said_at - max(fact.valid_from, fact.last_confirmed_at), timedelta(0))
    )


def _confirming_confidence(decision: Decision) -> float:
    is_weak = decision.note.trust.is_trusted_less_than(SourceKind.EXTRACTOR)
    return 0.0 if decision.gate is None or is_weak else decision.gate.confidence


def _is_contacts_answer(decision: Decision) -> bool:
    """True if the contact was asked, and said yes."""
    is_kept = decision.action in (Action.ADD, Action.UPDATE, Action.SKIP, Action.RESOLVE)
    return decision.proposal.answered_by == CONTACT and is_kept


def _surer(one: float, other: float) -> float:
    """Combined confidence of two independent statements, each in [0, 1]."""
    return 1 - (1 - one) * (1 - other)


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    """The later of two ends; None, for no end, is the latest."""
    return None if one is None or other is None else max(one, other)
