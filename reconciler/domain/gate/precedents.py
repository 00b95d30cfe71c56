"""What became of the same inference about a contact before, as the gate weighs it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from reconciler.domain.records.candidates import Precedents
from reconciler.domain.records.kinds import Action, GateReason, SourceKind
from reconciler.frozen import frozen

_SUPPORTING = (GateReason.THIN_EVIDENCE, GateReason.BELOW_FLOOR)
"""A candidate refused for one of these reasons still supports a later one by its episodes. One that
was quarantined, not meant literally, or came from a tool or a model supports nothing."""


@frozen
class EarlierDecision:
    """A decision about an inference, and one of the episodes that it rests on.

    Attributes:
        decision_id: the decision's.
        action: what was done.
        reason: why the gate disposed of it so.
        trust: the kind of its source.
        held_id: the decision under which the same question waited already.
        lapses_at: until when it waits; None for as long as a question has no answer.
        answer_id: the decision that settled it.
        episode_id: the episode's.
        session_id: its session's.
        is_answered_since: whether later words answered it, which no decision says.
        is_silent: whether it waits without a question.
    """

    decision_id: str
    action: Action
    reason: GateReason | None
    trust: SourceKind
    held_id: str | None
    lapses_at: datetime | None
    answer_id: str | None
    episode_id: str
    session_id: str
    is_answered_since: bool = False
    is_silent: bool = False

    @property
    def is_supporting(self) -> bool:
        """True if its episode counts when the same is inferred again."""
        is_undecided = self.action in (Action.HOLD, Action.REJECT) and self.reason in _SUPPORTING
        return is_undecided and not self.trust.is_trusted_less_than(SourceKind.EXTRACTOR)

    def is_pending(self, now: datetime) -> bool:
        """True if it waits, for an answer or to be said again, under its own id."""
        is_settled = self.answer_id is not None or self.is_answered_since
        has_time = self.lapses_at is None or self.lapses_at > now
        return self.action is Action.HOLD and self.held_id is None and not is_settled and has_time


def precedents_of(
    earlier: Sequence[EarlierDecision],
    now: datetime,
    *,
    is_answered: bool = False,
    contradicted: str | None = None,
) -> Precedents:
    """Earlier decisions that a new proposal of the same inference is judged with.

    Args:
        earlier: what was decided about it, the oldest first.
        now: the time now (UTC).
        is_answered: whether later words than the proposal's answer what would be asked.
        contradicted: the text of a live fact that would end by the proposal.
    """
    declined = [decision.decision_id for decision in earlier if decision.action is Action.DECLINE]
    pending = [decision for decision in earlier if decision.is_pending(now)]
    asked = (decision.decision_id for decision in pending if not decision.is_silent)
    silent = (decision.decision_id for decision in pending if decision.is_silent)
    supporting = [decision for decision in earlier if decision.is_supporting]
    return Precedents(
        declined_id=next(iter(declined), None),
        pending_id=next(asked, None),
        waiting_id=next(silent, None),
        is_answered=is_answered,
        episode_ids=frozenset(decision.episode_id for decision in supporting),
        sessions=frozenset(decision.session_id for decision in supporting),
        contradicted=contradicted,
    )
