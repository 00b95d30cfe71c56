"""The past: notes about something that is over, and known ends. Pure.

Such a note is written, so that recall of the past finds it. Its fact is superseded from the start
and not merely expired: a later note or a yes could make an expired fact live.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from reconciler.domain.reconciling.limits import binds
from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import Action, DecidedBy, FactState, SourceKind
from reconciler.domain.records.notes import Note


def as_past(verdict: Verdict, ended_at: datetime, known: Fact | None) -> Verdict:
    """The verdict about a note that no longer holds.

    Beneath a newer fact it stays history. If it repeats a known fact that was not said again since
    the note's end, it replaces that fact, which has ended too. In any other case it is new, and
    neither replaces nor contradicts anything.

    Args:
        verdict: what ``decide`` concluded, as if it still held.
        ended_at: until when it held (UTC).
        known: the fact that the verdict was decided on, if any.
    """
    ended = f"it held until {ended_at:%Y-%m-%d}"
    verdict = replace(verdict, can_be_arbitrated=False)
    if verdict.is_history:
        return replace(verdict, reason=f"{ended}; {verdict.reason}")
    says_again = verdict.action is Action.UPDATE and verdict.is_restatement
    if says_again and known is not None and known.last_confirmed_at <= ended_at:
        targets = verdict.targets[:1]
        reason = f"{ended}, and so did what it says again ({verdict.reason})"
        return replace(verdict, reason=reason, targets=targets, conflicts=())
    return replace(
        verdict,
        action=Action.ADD,
        decided_by=DecidedBy.ORDER,
        reason=f"{ended}, so it is kept as history ({verdict.reason})",
        targets=(),
        conflicts=(),
        is_restatement=False,
        voided=(),
    )


def over(fact: Fact, ended_at: datetime) -> Fact:
    """The fact as history from the start.

    Args:
        fact: as it would be written if it still held.
        ended_at: until when it held (UTC).
    """
    return replace(fact, state=FactState.SUPERSEDED, valid_to=ended_at, expires_at=None)


def as_told_to_end(fact: Fact, holds_until: datetime, note: Note) -> Fact:
    """A fact that is said again with an end, with that end, because it was said last.

    A less trusted note changes no end. A fact that binds gets an end only from the contact.

    Args:
        fact: the known fact.
        holds_until: its end, as the note says (UTC).
        note: the note.
    """
    may_end = note.trust is SourceKind.USER_EXPLICIT or not (
        binds(fact) or fact.is_confirmed_by_user or note.trust.is_trusted_less_than(fact.word)
    )
    return replace(fact, expires_at=holds_until) if may_end else fact


def ending(fact: Fact, holds_until: datetime) -> Fact:
    """The fact with a known end, which is also its lifetime.

    Args:
        fact: the fact without a known end.
        holds_until: the end (UTC).
    """
    return replace(fact, valid_to=holds_until, expires_at=holds_until)
