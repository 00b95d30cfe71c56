"""Redaction: a record without a word of what it was about. Ids, actions, numbers and times stay.

``STAYS`` names the words that stay; all others go. So a new field that holds words is erased, and
looked for afterwards, unless it is named there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from datetime import datetime
from enum import Enum
from functools import cache
from operator import attrgetter
from types import NoneType
from typing import Any

from reconciler.domain.records.assessment import Assessment, CheckFinding, ScorePart
from reconciler.domain.records.decisions import (
    Decision,
    PlannedEnd,
    Proposal,
    RecordedOpinion,
    RecordedPolicy,
    Resting,
    Timings,
    Undo,
    Verdict,
)
from reconciler.domain.records.erasures import ERASED
from reconciler.domain.records.facts import Conflict, Fact, Standing, Supersession
from reconciler.domain.records.kinds import RecallSemantics, Sensitivity
from reconciler.domain.records.notes import Note
from reconciler.domain.records.relations import Relations
from reconciler.domain.records.scope import Scope
from reconciler.errors import ErasedError

_LINK = frozenset({"new_id", "old_id", "decided_by"})

STAYS: Mapping[type, frozenset[str]] = {
    Assessment: frozenset({"policy_version", "domain"}),
    CheckFinding: frozenset({"check"}),
    Conflict: _LINK,
    Decision: frozenset(
        {"decision_id", "door", "episode_id", "fact_id", "closed_ids", "expired_ids"}
    ),
    Fact: frozenset({"fact_id"}),
    Note: frozenset({"session_id"}),
    PlannedEnd: frozenset({"fact_id", "plan_id"}),
    Proposal: frozenset({"proposed_by", "answered_by", "settles_id", "held_id"}),
    RecordedOpinion: frozenset({"arbiter"}),
    RecordedPolicy: frozenset({"profile", "embedding_model"}),
    Relations: frozenset({"replaces", "repeats", "ends", "both_hold"}),
    Resting: frozenset({"fact_id", "decision_id"}),
    Scope: frozenset({"tenant", "agent_id", "contact_id"}),
    ScorePart: frozenset({"name"}),
    Standing: frozenset({"fact_id"}),
    Supersession: _LINK,
    Timings: frozenset(),
    Undo: frozenset({"decision_ids"}),
    Verdict: frozenset({"targets", "conflicts", "settled", "voided"}),
}
"""The strings of a record that stay: ids, and names out of lists of ours. Numbers, times and
enumerations stay without being named. A record of a class that is not here goes as a whole."""

_Getter = Callable[[Any], tuple[Any, ...]]

_WORDLESS = (NoneType, bool, int, float, datetime, Enum)

_WORD = re.compile(r"\w[\w'’-]*")
_TELLING_LENGTH_MIN = 4
_NAME_LENGTH_MIN = 2
_IN_A_ROW = re.compile(rf"{re.escape(ERASED)}(?:[\s,]+{re.escape(ERASED)})+")


def is_erased(decision: Decision) -> bool:
    """Whether the record has no words left, so that nothing can follow from it any more."""
    return decision.note.text == ERASED


def check_not_erased(decision: Decision) -> None:
    """Let a decision through from which something is to follow.

    Raises:
        ErasedError: it was erased.
    """
    if is_erased(decision):
        raise ErasedError(
            f"decision {decision.decision_id} was erased; nothing can follow from it any more"
        )


def without_words(decision: Decision, at: datetime) -> Decision:
    """The record without any words; done twice, it is the same.

    Args:
        decision: as it is kept.
        at: when its words went (UTC): a question that waits for an answer lapses then, and what it
            was to end on a later day does not end by it.
    """
    left: Decision = _emptied(
        decision,
        note=_emptied(decision.note, is_cleaned=True),
        gate=decision.gate and _assessment(decision.gate, at),
        planned_ends=tuple(
            _emptied(end, is_released=end.is_released or end.day > at)
            for end in decision.planned_ends
        ),
    )
    return left


def without_argument(decision: Decision, gone_ids: Set[str]) -> Decision:
    """The record without what was argued between its note and others, which may quote them.

    Args:
        decision: as it is kept.
        gone_ids: the facts that are forgotten; how others stood stays, for it can be undone.
    """
    return replace(
        decision,
        verdict=_emptied(decision.verdict),
        undo=decision.undo and _undo(decision.undo, gone_ids),
        opinion=_emptied(decision.opinion),
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
    kept = [_WORD.sub(lambda match: _unless(telling, match.group()), part) for part in kept]
    return _IN_A_ROW.sub(ERASED, ERASED.join(kept))


def _unless(telling: Set[str], word: str) -> str:
    heard = word.casefold()
    return ERASED if heard in telling or heard.removesuffix("'s") in telling else word


def argued(decision: Decision) -> str:
    """All that was argued between its note and others, to be searched for words."""
    undo = decision.undo
    links = (*undo.unlinked, *undo.linked, *undo.conflicts) if undo else ()
    parts = (decision.verdict, decision.opinion, *links)
    return "\n".join(word for part in parts for word in words_of(part))


def words_of(record: Any) -> list[str]:
    """All words of a record that an erasure takes, and what stands in the place of such words."""
    words: list[str] = []
    _collect(_worded_values(record), words)
    return words


def _collect(values: Iterable[Any], words: list[str]) -> None:
    """Add the words of these values; no generators: an erasure looks into millions of values."""
    for value in values:
        kind = value.__class__
        if kind is str:
            words.append(value)
        elif kind is tuple:
            _collect(value, words)
        elif not _is_wordless(kind):
            if _is_record(kind):
                _collect(_worded_values(value), words)
            else:
                words.append(str(value))


@cache
def _worded(kind: type) -> tuple[Field[Any], ...]:
    """The fields of a record that may hold words."""
    stays = STAYS.get(kind, frozenset())
    return tuple(described for described in fields(kind) if described.name not in stays)


def _worded_values(record: Any) -> tuple[Any, ...]:
    """The values of these fields, in their order."""
    return _worded_getter(record.__class__)(record)


@cache
def _worded_getter(kind: type) -> _Getter:
    return _getter([described.name for described in _worded(kind)])


@cache
def _whole(kind: type) -> tuple[list[str], _Getter]:
    """The names of all fields, and what gets their values."""
    names = [described.name for described in fields(kind)]
    return names, _getter(names)


def _getter(names: Sequence[str]) -> _Getter:
    """Gets them all at once: an erasure looks into hundreds of thousands of records."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)


@cache
def _is_record(kind: type) -> bool:
    return is_dataclass(kind)


@cache
def _is_wordless(kind: type) -> bool:
    return issubclass(kind, _WORDLESS)


def _emptied(record: Any, **given: Any) -> Any:
    """A record without words: a field that held any has its default; one without, ``[erased]``.

    The given fields have the given values instead.
    """
    kind, left = record.__class__, given
    for described, value in zip(_worded(kind), _worded_values(record), strict=True):
        if _is_wordless(value.__class__) or described.name in given:
            continue
        kept = _left(value, described)
        if kept is not value:
            left[described.name] = kept
    if not left:
        return record
    names, getter = _whole(kind)
    return kind(**dict(zip(names, getter(record), strict=True)) | left)  # ``replace`` takes longer


def _left(value: Any, described: Field[Any]) -> Any:
    kind = value.__class__
    if kind is tuple:
        kinds = {item.__class__ for item in value}
        if all(map(_is_wordless, kinds)):
            return value
        if kinds <= STAYS.keys():
            return tuple(map(_emptied, value))
    elif kind in STAYS:
        return _emptied(value)
    if described.default_factory is not MISSING:
        return described.default_factory()
    return ERASED if described.default is MISSING else described.default


def _undo(undo: Undo, gone_ids: Set[str]) -> Undo:
    before = tuple(_emptied(e) if e.fact_id in gone_ids else e for e in undo.before)
    left: Undo = _emptied(undo)
    return replace(left, before=before)


def _assessment(gate: Assessment, at: datetime) -> Any:
    """It without what tells by itself what it was about; a question that waited lapses."""
    is_asked = bool(gate.question)
    return _emptied(
        gate,
        sensitivity=Sensitivity.NONE,
        recall_semantics=RecallSemantics.DEFAULT,
        question=ERASED if is_asked else None,
        lapses_at=min(gate.lapses_at or at, at) if gate.lapses_at or is_asked else None,
    )
