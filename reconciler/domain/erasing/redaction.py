"""Redaction: a record without a word of what it was about. Ids, actions, numbers and times stay."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import replace
from datetime import datetime

from reconciler.domain.records.assessment import Assessment
from reconciler.domain.records.decisions import Decision, Undo
from reconciler.domain.records.erasures import ERASED
from reconciler.domain.records.facts import Conflict, Standing, Supersession
from reconciler.domain.records.kinds import RecallSemantics, Sensitivity
from reconciler.domain.records.notes import Note

__all__ = ["argued", "is_erased", "without_argument", "without_telling", "without_words"]

_WORD = re.compile(r"\w[\w'’-]*")
_TELLING_LENGTH_MIN = 4
_NAME_LENGTH_MIN = 2
_IN_A_ROW = re.compile(rf"{re.escape(ERASED)}(?:[\s,]+{re.escape(ERASED)})+")


def is_erased(decision: Decision) -> bool:
    """Whether the record has no words left, so that nothing can follow from it any more."""
    return decision.note.text == ERASED


def without_words(decision: Decision, at: datetime) -> Decision:
    """The record without any words; done twice, it is the same.

    Args:
        decision: as it is kept.
        at: when its words went (UTC): a question that waits for an answer lapses then.
    """
    everything = {fact.fact_id for fact in _before(decision)}
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
        verdict=replace(decision.verdict, reason=ERASED, findings=()),
        undo=decision.undo and _undo(decision.undo, gone_ids),
        opinion=replace(decision.opinion, reasoning=None, error=None),
    )


def without_telling(reason: str, texts: Set[str], names: Set[str]) -> str:
    """Why something was forgotten, without what would tell it again.

    Any of the texts goes, and each word that tells what one is about: one with a capital or a digit
    that stands in a text, and each part of a name. Other words are kept: they are the language's.

    Args:
        reason: as a person gave it.
        texts: what is forgotten, with the values that it was filed under.
        names: what the contact is called.
    """
    for text in sorted(texts, key=len, reverse=True):  # a value stands in the sentence that says it
        if len(text) >= _TELLING_LENGTH_MIN and text.casefold() in reason.casefold():
            left = re.sub(re.escape(text), ERASED, reason, flags=re.IGNORECASE)
            reason = ERASED if left == reason else left
    telling = {
        word.casefold()
        for text in texts
        for word in _WORD.findall(text)
        if len(word) >= _TELLING_LENGTH_MIN and not (word.islower() and word.isalpha())
    }
    parts = (part for name in names for part in _WORD.findall(name))
    telling |= {part.casefold() for part in parts if len(part) >= _NAME_LENGTH_MIN}
    kept = reason.split(ERASED)  # what stands for what went is no word of it
    kept = [_WORD.sub(lambda found: _unless(telling, found.group()), part) for part in kept]
    return _IN_A_ROW.sub(ERASED, ERASED.join(kept))


def _unless(telling: Set[str], word: str) -> str:
    heard = word.casefold()
    return ERASED if heard in telling or heard.removesuffix("'s") in telling else word


def argued(decision: Decision) -> str:
    """All that was argued between its note and others, to be searched for words."""
    verdict, opinion = decision.verdict, decision.opinion
    said = [verdict.reason, *map(str, verdict.findings), opinion.reasoning, opinion.error]
    if undo := decision.undo:
        said += [link.reason for link in (*undo.unlinked, *undo.linked)]
        said += [conflict.reason for conflict in undo.conflicts]
    return "\n".join(filter(None, said))


def _before(decision: Decision) -> tuple[Standing, ...]:
    return decision.undo.before if decision.undo else ()


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
        findings=tuple(replace(finding, detail=ERASED) for finding in found.findings),
        topic=None,
        sensitivity=Sensitivity.NONE,
        recall_semantics=RecallSemantics.DEFAULT,
        question=ERASED if found.question else None,
        lapses_at=found.lapses_at and min(found.lapses_at, at),
        inference_key="erased",
    )
