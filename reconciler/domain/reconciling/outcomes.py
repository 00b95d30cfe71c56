"""What a verdict means for the fact that it was decided on."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.kinds import Action


class Outcome(StrEnum):
    """The note's outcome, seen from the fact that it was compared with."""

    SUPERSEDED = "superseded"
    """The note takes the fact's place."""

    REPEATED = "repeated"
    """The note is taken for the fact said again; nothing new is stored."""

    CONFLICT = "conflict"
    """Both are live, linked as a possible contradiction."""

    APART = "apart"
    """Both are live, and nothing says that they have to do with each other."""

    HISTORY = "history"
    """The note is written beneath a newer fact, not live."""


def outcome_of_verdict(verdict: Verdict[Any]) -> Outcome:
    """A verdict's outcome for the fact that it was decided on."""
    if verdict.is_history:
        return Outcome.HISTORY
    if verdict.action in (Action.UPDATE, Action.REVOKE):
        return Outcome.SUPERSEDED
    if verdict.action is Action.SKIP:
        return Outcome.REPEATED
    return Outcome.CONFLICT if verdict.conflicts else Outcome.APART
