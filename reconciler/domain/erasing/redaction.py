"""Redaction: a record without a word of what it was about. Ids, actions, numbers and times stay."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from datetime import datetime

from reconciler.domain.records.assessment import Assessment
from reconciler.domain.records.decisions import Decision, RecordedVerdict, Undo
from reconciler.domain.records.erasures import ERASED
from reconciler.domain.records.facts import Conflict, Standing, Supersession
from reconciler.domain.records.kinds import RecallSemantics, Sensitivity
from reconciler.domain.records.notes import Note

__all__ = ["argued", "is_erased", "without_argument", "without_words"]


def is_erased(decision: Decision) -> bool:
    """Whether the record has no words left, so that nothing can follow from it any more."""
    return decision.note.text == ERASED


def without_words(decision: Decision, at: datetime) -> Decision:
    """The record without any words; done twice, it is the same.

    Args:
        decision: as it is kept.
        at: when its words went (UTC): a question that waits for an answer lapses then.
    """
    everything = {each.fact_id for each in _before(decision)}
    return replace(
        without_argument(decision, everything),
        note=_note(decision.note),
        gate=decision.gate and _assessment(decision.gate, at),
    )


def without_argument(decision: Decision, gone_ids: Set[str]) -> Decision:
    """The record without what was argued between its note and others, which may quote them.

    Args:
        decision: as it is kept.
        gone_ids: the facts that are forgotten; how others stood stays, for it can be undone.
    """
    return replace(
        decision,
        verdict=_verdict(decision.verdict, gone_ids),
        opinion=replace(decision.opinion, reasoning=None, error=None),
    )


def argued(decision: Decision) -> str:
    """All that was argued between its note and others, to be searched for words."""
    verdict, opinion = decision.verdict, decision.opinion
    said = [verdict.reason, *map(str, verdict.findings), opinion.reasoning, opinion.error]
    if undo := verdict.undo:
        said += [each.reason for each in (*undo.unlinked, *undo.linked)]
        said += [each.reason for each in undo.conflicts]
    return "\n".join(filter(None, said))


def _before(decision: Decision) -> tuple[Standing, ...]:
    return decision.verdict.undo.before if decision.verdict.undo else ()


def _note(note: Note) -> Note:
    return replace(
        note,
        text=ERASED,
        slot=None,
        slot_read_from=None,
        tags=(),
        topic=None,
        source_reference=None,
        artefact=None,
        contact_name=None,
        idempotency_key=None,
        is_cleaned=True,
    )


def _verdict(verdict: RecordedVerdict, gone_ids: Set[str]) -> RecordedVerdict:
    undo = verdict.undo and _undo(verdict.undo, gone_ids)
    return replace(verdict, reason=ERASED, findings=(), undo=undo)


def _undo(undo: Undo, gone_ids: Set[str]) -> Undo:
    before = [replace(e, slot=None) if e.fact_id in gone_ids else e for e in undo.before]
    return replace(
        undo,
        before=tuple(before),
        unlinked=tuple(map(_link, undo.unlinked)),
        linked=tuple(map(_link, undo.linked)),
        conflicts=tuple(map(_conflict, undo.conflicts)),
    )


def _link(link: Supersession) -> Supersession:
    return replace(link, reason=ERASED)


def _conflict(conflict: Conflict) -> Conflict:
    return replace(conflict, reason=ERASED)


def _assessment(found: Assessment, at: datetime) -> Assessment:
    return replace(
        found,
        detail=ERASED,
        findings=tuple(replace(each, detail=ERASED) for each in found.findings),
        topic=None,
        sensitivity=Sensitivity.NONE,
        recall_semantics=RecallSemantics.DEFAULT,
        question=ERASED if found.question else None,
        lapses_at=found.lapses_at and min(found.lapses_at, at),
        inference_key="erased",
    )
