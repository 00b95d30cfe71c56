"""The past: what becomes of a note about something that is over. Pure.

It is kept, so that a look back finds it, and it never becomes live: it is superseded from the
start, since an expired fact could be made live by a yes or by a later note.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from reconciler.domain.reconciling.limits import binds
from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import Action, DecidedBy, FactState, SourceKind
from reconciler.domain.records.notes import Note

__all__ = ["as_past", "as_told_to_end", "ending", "over"]


def as_past(verdict: Verdict, ended_at: datetime, known: Fact | None) -> Verdict:
    """The verdict about a note that no longer holds.

    Where it lies beneath something newer, it stays there. If it repeats a known fact that was not
    said again since the note's end, it takes the place of that fact, which has ended too. In any
    other case it stands for itself: what is over replaces nothing, and contradicts nothing.

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
    """A fact that is said again with an end: that one holds, for it was said last.

    A less trusted word ends nothing that way, nor does any but the contact's own what binds.

    Args:
        fact: the fact that stays.
        holds_until: until when it will hold (UTC).
        note: what said so.
    """
    may_end = note.trust is SourceKind.USER_EXPLICIT or not (
        binds(fact) or fact.is_confirmed_by_user or note.trust.is_trusted_less_than(fact.word)
    )
    return replace(fact, expires_at=holds_until) if may_end else fact


def ending(fact: Fact, holds_until: datetime) -> Fact:
    """The fact as one that is known to end: its own end is its lifetime, whatever its kind.

    Args:
        fact: as it would be written if no end were known.
        holds_until: until when it will hold (UTC).
    """
    return replace(fact, valid_to=holds_until, expires_at=holds_until)
