"""The rules of the cosine: above the band, below it, and within it without a judge. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reconciler.domain.guard import (
    find_changes,
    has_many_other_words,
    leaves_words_out,
    replaces_a_word,
)
from reconciler.domain.reconciling.neighbours import are_filed_apart, may_both_hold
from reconciler.domain.reconciling.verdicts import (
    LINK_COSINE_MIN,
    Rule,
    RuleInput,
    Unread,
    add,
    cosine_of,
    kept_apart,
    listed,
    unlike,
    update,
)
from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import DecidedBy
from reconciler.domain.records.notes import Note
from reconciler.domain.records.policies import ReconcilePolicy


def _again(note: Note, seen: RuleInput, _: Verdict | None) -> Verdict | None:
    policy, candidates = seen.policy, seen.replaceable
    same = _restated(note, candidates, policy, seen.unread)
    if same is None:
        return None
    which = "nearest" if same is decided_on(candidates, policy) else "another"
    reason = f"{which} fact at {same.cosine:.3f}, at or above {policy.cosine_update_min:g}"
    return update(DecidedBy.THRESHOLD, same, reason, is_restatement=True)


def _far(note: Note, seen: RuleInput, _: Verdict | None) -> Verdict | None:
    candidates, is_open = seen.replaceable, seen.is_asked
    if not candidates:
        reason = "no fact about this contact that it could replace"
        return _left_open(add(DecidedBy.THRESHOLD, reason), is_open=is_open)
    bound = seen.policy.cosine_add_max
    if decided_on(candidates, seen.policy).cosine >= bound:
        return None
    beside = _beside(note, candidates, seen.policy, DecidedBy.THRESHOLD, f"below {bound:g}")
    return _left_open(beside, is_open=is_open)


def _below_the_cut(note: Note, seen: RuleInput, _: Verdict | None) -> Verdict | None:
    candidates, cut = seen.replaceable, seen.policy.cut
    if decided_on(candidates, seen.policy).cosine >= cut:
        return None
    where = f"below the cut {cut:g}"
    return _left_open(_beside(note, candidates, seen.policy, DecidedBy.MIDPOINT, where))


def _filed_apart(note: Note, seen: RuleInput, _: Verdict | None) -> Verdict | None:
    nearest = _nearest(seen)
    if not are_filed_apart(note, nearest):
        return None
    # One answer to two questions, such as a consent to either, leaves nothing to ask.
    values = {slot.value_key for slot in (note.slot, nearest.slot) if slot}
    is_asked = len(values - {None}) > 1 and not may_both_hold(note, nearest)
    reason = f"{cosine_of(nearest)}, yet filed under another attribute"
    return _left_open(
        replace(add(DecidedBy.MIDPOINT, reason), conflicts=(nearest,) if is_asked else ())
    )


def _unlike_the_nearest(note: Note, seen: RuleInput, _: Verdict | None) -> Verdict | None:
    nearest = _nearest(seen)
    findings = unlike(note, nearest, seen.policy, seen.unread)
    apart = kept_apart(note, nearest, findings, cosine_of(nearest))
    return _left_open(apart) if findings else None


def _leaving_words_out(note: Note, seen: RuleInput, _: Verdict | None) -> Verdict | None:
    nearest = _nearest(seen)
    texts = note.text, nearest.text
    if not seen.policy.guard:
        return None
    if replaces_a_word(*texts):
        why = "the note has another word for which one, or which way"
    elif leaves_words_out(*texts):
        why = "it has words that the note leaves out"
    else:
        return None
    return _left_open(add(DecidedBy.GUARD, f"{cosine_of(nearest)}, yet {why}"))


def _above_the_cut(_note: Note, seen: RuleInput, _: Verdict | None) -> Verdict | None:
    nearest = _nearest(seen)
    reason = f"{cosine_of(nearest)}, at or above the cut {seen.policy.cut:g}"
    return _left_open(update(DecidedBy.MIDPOINT, nearest, reason, is_restatement=False))


def _left_open(verdict: Verdict, *, is_open: bool = True) -> Verdict:
    """The verdict as what stands until a judge says otherwise."""
    return replace(verdict, can_be_arbitrated=is_open)


def _nearest(seen: RuleInput) -> Neighbour:
    return decided_on(seen.replaceable, seen.policy)


def decided_on(candidates: Sequence[Neighbour], policy: ReconcilePolicy) -> Neighbour:
    """The nearest live fact, unless that is far, and an expired one is not."""
    for bound in (policy.cut, policy.cosine_add_max):
        for candidate in candidates:
            if candidate.cosine >= bound:
                return candidate
    return candidates[0]


def _restated(
    note: Note, candidates: Sequence[Neighbour], policy: ReconcilePolicy, unread: Unread
) -> Neighbour | None:
    """The nearest fact above the band that differs in nothing the guard can see.

    With "invoice 1042" and "invoice 1043" both on file, what is said of the one again may well be
    nearer to the other.
    """
    near = (candidate for candidate in candidates if candidate.cosine >= policy.cosine_update_min)
    return next(
        (
            candidate
            for candidate in near
            if not are_filed_apart(note, candidate)
            and not unlike(note, candidate, policy, unread)
            and not (policy.guard and _has_other_words(note.text, candidate.text))
        ),
        None,
    )


def _has_other_words(note: str, fact: str) -> bool:
    return has_many_other_words(note, fact) or replaces_a_word(note, fact)


def _beside(
    note: Note,
    candidates: Sequence[Neighbour],
    policy: ReconcilePolicy,
    decided_by: DecidedBy,
    where: str,
) -> Verdict:
    """Below the cut a note is new; what it seems to contradict is linked to it."""
    changes = {
        candidate: findings
        for candidate in candidates
        if policy.guard
        and candidate.cosine >= min(LINK_COSINE_MIN, policy.cosine_add_max)
        and (findings := find_changes(note.text, candidate.text))
        and not may_both_hold(note, candidate)
    }
    findings = next(iter(changes.values()), ())
    reason = f"{cosine_of(decided_on(candidates, policy))}, {where}{listed(findings)}"
    return replace(add(decided_by, reason), conflicts=tuple(changes), findings=findings)


AGAIN = Rule(
    decided_by="threshold",
    when="the nearest other fact is at or above 0.95 and the guard finds no difference",
    what="UPDATE: the new fact gets a `SUPERSEDES` link to the old one, which ends",
    apply=_again,
    is_linked=True,
)
FAR = Rule(
    decided_by="threshold",
    when="the nearest other fact is below 0.80, or no other fact exists",
    what="ADD, linked if one text contradicts the other",
    apply=_far,
    is_linked=True,
)
BELOW = Rule(
    decided_by="midpoint",
    when="it is below 0.875",
    what="ADD, linked if one text contradicts the other",
    apply=_below_the_cut,
    is_linked=True,
)
UNLIKE = Rule(
    decided_by="guard",
    when="the guard finds a difference",
    what="ADD, linked by `CONFLICTS_WITH` if they cannot both hold",
    why="The guard found a difference that makes them two facts, so both are kept.",
    apply=_unlike_the_nearest,
    is_linked=True,
)
LEFT_OUT = Rule(
    decided_by="guard",
    when="the note leaves out words of the fact: several, or one with another in its place",
    what="ADD, beside the fact",
    apply=_leaving_words_out,
    is_linked=True,
)
FILED_APART = Rule(
    decided_by="midpoint",
    when="the caller gave the note another attribute than the fact's",
    what="ADD, linked by `CONFLICTS_WITH` if the values differ and both may answer one question",
    apply=_filed_apart,
    is_linked=True,
)
ABOVE = Rule(
    decided_by="midpoint",
    when="otherwise, from 0.875 up",
    what="UPDATE",
    apply=_above_the_cut,
    is_linked=True,
)
