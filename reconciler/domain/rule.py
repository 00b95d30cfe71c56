"""The rule: what becomes of a note, given its neighbours. Pure; no graph, model or clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reconciler.domain.decisions import (
    ACTIONS_OF_RELATION,
    Action,
    DecidedBy,
    Judgement,
    Relation,
    Verdict,
)
from reconciler.domain.facts import Neighbour
from reconciler.errors import ArbiterAnswerError, ConfigurationError

__all__ = ["ReconcilePolicy", "check_judgement", "decide"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcilePolicy:
    """The thresholds of the rule, in raw cosine.

    Invariant: -1 <= cosine_add_max <= cosine_update_min <= 1, so the band between them may be
    empty but never inverted.

    Args:
        cosine_update_min: at or above it a note supersedes. Source: seed 004, 0.95.
        cosine_add_max: below it a note is new. Source: seed 004, 0.80.

    Raises:
        ConfigurationError: the invariant does not hold.
    """

    cosine_update_min: float = 0.95
    cosine_add_max: float = 0.80

    def __post_init__(self) -> None:
        if not -1 <= self.cosine_add_max <= self.cosine_update_min <= 1:
            raise ConfigurationError(
                f"thresholds in the wrong order: cosine_add_max {self.cosine_add_max} must not "
                f"exceed cosine_update_min {self.cosine_update_min}, and both lie in [-1, 1]"
            )

    @property
    def cosine_midpoint(self) -> float:
        """The middle of the band: at or above it a note supersedes where nobody else decides."""
        return (self.cosine_update_min + self.cosine_add_max) / 2


def decide(
    neighbours: Sequence[Neighbour] | None,
    policy: ReconcilePolicy,
    judgement: Judgement | None = None,
) -> Verdict:
    """What to write for a note; the first rule that matches decides.

    A note in the band gets the midpoint's verdict, which ``can_be_arbitrated``; called again with
    a checked judgement, that decides instead.

    Args:
        neighbours: live facts in scope, nearest first; None where there is no embedder.
        policy: the thresholds.
        judgement: an arbiter's answer that ``check_judgement`` let through, if any.

    Returns:
        The verdict. ADD has no target; UPDATE and SKIP always have one.
    """
    if neighbours is None:
        return _add(DecidedBy.NOOP, "no embedder, so nothing to compare with")
    if not neighbours:
        return _add(DecidedBy.THRESHOLD, "the first fact about this contact")
    nearest = neighbours[0]
    if nearest.cosine < policy.cosine_add_max:
        return _add(
            DecidedBy.THRESHOLD,
            f"nearest fact at {nearest.cosine:.3f}, below {policy.cosine_add_max:g}",
        )
    if nearest.cosine >= policy.cosine_update_min:
        return _update(
            DecidedBy.THRESHOLD,
            nearest,
            f"nearest fact at {nearest.cosine:.3f}, at or above {policy.cosine_update_min:g}",
            is_restatement=True,
        )
    if judgement is not None:
        return _judged(judgement, neighbours)
    return _midpoint(nearest, policy)


def check_judgement(judgement: Judgement, neighbour_count: int) -> None:
    """Let an arbiter's answer through, or say why not; the model is never trusted with this.

    Raises:
        ArbiterAnswerError: the relation and the action disagree, or the target is not one of the
            neighbours that were shown.
    """
    if judgement.action not in ACTIONS_OF_RELATION[judgement.relation]:
        raise ArbiterAnswerError(f"it says {judgement.relation} and yet {judgement.action}")
    if judgement.action is not Action.ADD and judgement.target not in range(1, neighbour_count + 1):
        raise ArbiterAnswerError(
            f"{judgement.action} of fact {judgement.target}, but {neighbour_count} were shown"
        )


def _add(decided_by: DecidedBy, reason: str) -> Verdict:
    return Verdict(action=Action.ADD, decided_by=decided_by, reason=reason)


def _update(
    decided_by: DecidedBy, target: Neighbour, reason: str, *, is_restatement: bool
) -> Verdict:
    return Verdict(
        action=Action.UPDATE,
        decided_by=decided_by,
        reason=reason,
        target=target,
        is_restatement=is_restatement,
    )


def _judged(judgement: Judgement, neighbours: Sequence[Neighbour]) -> Verdict:
    target = judgement.target if judgement.action is not Action.ADD else None
    return Verdict(
        action=judgement.action,
        decided_by=DecidedBy.ARBITER,
        reason=f"the arbiter calls it {judgement.relation}",
        target=None if target is None else neighbours[target - 1],
        is_restatement=judgement.relation is not Relation.REPLACES,
    )


def _midpoint(nearest: Neighbour, policy: ReconcilePolicy) -> Verdict:
    where = f"nearest fact at {nearest.cosine:.3f}"
    bound = f"the midpoint {policy.cosine_midpoint:g}"
    if nearest.cosine >= policy.cosine_midpoint:
        reason = f"{where}, at or above {bound}"
        return _update(DecidedBy.MIDPOINT, nearest, reason, is_restatement=False)
    return _add(DecidedBy.MIDPOINT, f"{where}, below {bound}")
