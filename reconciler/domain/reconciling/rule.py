"""The rule: what becomes of a note, in two tables. Pure; no graph, model or clock."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from reconciler.domain.guard import is_repeated_in
from reconciler.domain.reconciling.by_model import JUDGE, TOLD, replaceable, shown_to_judge
from reconciler.domain.reconciling.by_slot import SLOT
from reconciler.domain.reconciling.by_text import (
    ABOVE,
    AGAIN,
    BELOW,
    CHANGE,
    FAR,
    FILED_APART,
    LEFT_OUT,
    RETRACTION,
    UNLIKE,
    WORDING,
)
from reconciler.domain.reconciling.limits import LIMITS, within_limits
from reconciler.domain.reconciling.verdicts import (
    LINKS,
    Rule,
    RuleInput,
    RuleRow,
    Unread,
    add,
    all_read,
    news_of,
)
from reconciler.domain.records.decisions import Judgement, Verdict
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, DecidedBy
from reconciler.domain.records.notes import Note
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.domain.records.relations import Relations

__all__ = ["LIMITS", "RULES", "dated", "decide", "printed", "restated"]

RULES = (
    Rule(
        decided_by="noop",
        when="there is no embedder (`RECONCILER_EMBEDDER__MODEL=noop`)",
        what="ADD",
        why="Without an embedder every note is new.",
        apply=lambda _note, seen, _verdict: (
            add(DecidedBy.NOOP, "no embedder, so nothing to compare with")
            if seen.known is None
            else None
        ),
    ),
    TOLD,
    SLOT,
    RETRACTION,
    CHANGE,
    AGAIN,
    WORDING,
    FAR,
    BELOW,
    UNLIKE,
    LEFT_OUT,
    FILED_APART,
    ABOVE,
    JUDGE,
)
"""All rules, in order: the first that answers decides. A judge is asked last, and where it may be
asked, its answer takes the place of what stood."""


def decide(
    note: Note,
    neighbours: Sequence[Neighbour] | None,
    policy: ReconcilePolicy,
    judgement: Judgement | None = None,
    *,
    shown: Sequence[Neighbour] | None = None,
    unread: Unread = all_read,
    relations: Relations | None = None,
    related_by: DecidedBy = DecidedBy.AGENT,
    is_state: bool = True,
    taken_back: Collection[str] = (),
) -> Verdict:
    """Decide what to write for a note; the first rule that matches decides.

    A verdict that ``can_be_arbitrated`` is what holds without an arbiter; called again with a
    checked judgement, that decides instead. A slot decides by itself where it was given; one that
    was read from the words is a guess, which a judge may overrule.

    Args:
        note: what to remember.
        neighbours: facts in scope that have not ended, nearest first, and those that share the
            note's slot; None where there is no embedder.
        policy: the thresholds.
        judgement: an arbiter's answer about ``shown`` that ``check_judgement`` let through, if any.
        shown: the facts that the judgement counts; None for ``shown_to_judge``.
        unread: what of a text the embedding model could not read, so that no cosine tells of it.
        relations: what a model that read the note and the neighbours said of them; all facts that
            it names are among the neighbours. It is asked no second time.
        related_by: which model said so.
        is_state: whether the note is a plain statement, as far as its vector tells.
        taken_back: the ids of the permissions that the note takes back, as far as vectors tell.

    Returns:
        The verdict. UPDATE and SKIP always have a target.
    """
    beside = neighbours or ()
    if relations is not None:
        beside = [fact for fact in beside if fact.fact_id not in relations.both_hold]
    if shown is None:  # without a judge nothing is shown, and no time is spent on it
        is_judged = judgement is not None or policy.reach is not None
        shown = shown_to_judge(note, beside, policy) if is_judged else ()
    seen = RuleInput(
        neighbours=beside,
        known=neighbours,
        replaceable=replaceable(note, beside),
        policy=policy,
        judgement=judgement,
        shown=shown,
        unread=unread,
        relations=relations,
        related_by=related_by,
        is_state=is_state,
        taken_back=taken_back,
    )
    verdict = within_limits(note, seen, _by_rules(note, seen))
    return verdict if relations is None else replace(verdict, can_be_arbitrated=False)


def _by_rules(note: Note, seen: RuleInput) -> Verdict:
    """The verdict of the first rule that answers, with its links; then the judge's."""
    *rules, judge = RULES
    for rule in rules:
        if verdict := rule.apply(note, seen, None):
            break
    else:
        raise AssertionError("the last rule of the cosine always answers")
    for link in LINKS if rule.is_linked else ():
        verdict = link(note, seen, verdict) or verdict
    return judge.apply(note, seen, verdict) or verdict


def restated(
    note: Note,
    neighbours: Sequence[Neighbour] | None,
    policy: ReconcilePolicy,
    unread: Unread = all_read,
    *,
    is_state: bool = True,
) -> Neighbour | None:
    """The live fact that says all that the note says; None if none does, or it cannot be told.

    A word that only the note has may be what needs a yes, whatever its slot.

    Args:
        note: what was proposed.
        neighbours: as ``decide`` takes them.
        policy: the thresholds.
        unread: as ``decide`` takes it.
        is_state: as ``decide`` takes it.
    """
    verdict = decide(note, neighbours, policy, unread=unread, is_state=is_state)
    known = verdict.target
    if known is None or known.is_expired or verdict.is_history or news_of(note, known, policy):
        return None
    if not is_repeated_in(note.text, known.text):
        return None
    says_same = verdict.is_restatement and verdict.action is Action.UPDATE
    return known if says_same or verdict.action is Action.SKIP else None


def dated(note: Note, verdict: Verdict) -> Note:
    """The note as it is written; an undated one is no older than what it was decided on.

    So what it supersedes ends no earlier than it began, whatever the clocks say. Facts that it has
    nothing to do with do not move it: one host's wrong clock would spread over the whole contact.

    Args:
        note: what was said; without a date of its own, said now.
        verdict: what ``decide`` concluded about it.
    """
    related = (*verdict.targets, *verdict.conflicts, *verdict.settled)
    return note.no_earlier_than(fact.valid_from for fact in related if not fact.is_upcoming)


def printed(rows: Iterable[RuleRow]) -> str:
    """The rows as the table of docs/what_decides.md and of ``explain --rules`` has them."""
    head = "| when | what is written | `decided_by` |\n|---|---|---|\n"
    return head + "".join(
        f"| {row.when} | {row.what} | {', '.join(map(_code, row.decided_by.split(', ')))} |\n"
        for row in rows
    )


def _code(word: str) -> str:
    return word if " " in word else f"`{word}`"
