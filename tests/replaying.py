"""Replay: decides recorded decisions again, under the same thresholds or others.

Pure; no graph, model or arbiter is asked, and nothing is written. A decision holds all input of the
rule, and the arbiter's answer if one was asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reconciler.bootstrap.chosen_models import build_policy
from reconciler.bound_memory import BoundMemory
from reconciler.domain.reconciling.ahead import announced, of_today
from reconciler.domain.reconciling.by_slot import is_left_open
from reconciler.domain.reconciling.by_text import TAKES_BACK
from reconciler.domain.reconciling.rule import check_judgement, decide
from reconciler.domain.reconciling.verdicts import Unread
from reconciler.domain.records.decisions import Decision, Judgement, RecordedOpinion, Verdict
from reconciler.domain.records.erasures import ERASED
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import DecidedBy, Outcome
from reconciler.domain.records.notes import CLOCK_SKEW_MAX, Note
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.errors import ArbiterAnswerError
from reconciler.frozen import frozen
from reconciler.ops.parts import parts_of
from reconciler.reading.canonical import canonical_text
from reconciler.reading.findings import Difference


@frozen
class Replayed:
    """A recorded decision, and what would be decided today.

    Attributes:
        decision: the record.
        verdict: today's verdict; with ``would_ask``, the verdict without an arbiter.
        is_same: whether the same facts would be superseded, repeated, linked or placed below. The
            name of the rule does not count.
        would_ask: whether an arbiter would be asked today, but was not asked then because of the
            old thresholds; its answer may differ from the verdict.
    """

    decision: Decision
    verdict: Verdict
    is_same: bool
    would_ask: bool

    @property
    def before(self) -> Outcome:
        """Return the note's old outcome."""
        return self.decision.verdict.outcome

    @property
    def after(self) -> Outcome:
        """Return the note's outcome today."""
        return self.verdict.outcome


def is_replayable(decision: Decision) -> bool:
    """True if the rule decided it from the texts, and all that it read is still stored.

    Thresholds change no decision of the gate or of a model that said how note and facts relate, and
    none about a note that had already ended. How often a fact was said then, and whether it was
    standing, is not on record.
    """
    others = (
        *(DecidedBy.GATE, DecidedBy.AMENDMENT, DecidedBy.ANSWER),
        *(DecidedBy.HEDGE, DecidedBy.STANDING),
    )
    is_by_rule = decision.action.is_reconciled and decision.decided_by not in others
    texts = (decision.text, *(fact.text for fact in decision.compared_with))
    is_told = decision.proposal.relations is not None
    return is_by_rule and not (is_told or decision.is_over or ERASED in texts)


def replay(decision: Decision, policy: ReconcilePolicy) -> Replayed:
    """Make a decision again from its record, under the policy.

    A note that was remembered without an embedder was compared with nothing; its decision stays the
    same. A value that changed back and forth is not recognised, because the older facts are not on
    record.

    Args:
        decision: a record that ``is_replayable``, with the facts that the note was compared with.
        policy: the thresholds to try.
    """
    note, neighbours = _note(decision), _neighbours(decision)
    unread, policy = _unread_in(decision), _reaching(policy, decision.policy.reach)
    compared = neighbours or []
    verdict = decide(
        note,
        neighbours,
        policy,
        # A judge may have been shown a far fact because of its words, which is not on record.
        shown=None if decision.opinion.target is None else compared,
        unread=unread,
        is_state=not _was_left_open(decision),
        taken_back=decision.verdict.targets if decision.reason.startswith(TAKES_BACK) else (),
    )
    would_ask = verdict.can_be_arbitrated and not _was_open(decision, note, neighbours)
    judgement = _judgement(decision.opinion, len(compared))
    if verdict.can_be_arbitrated and judgement is not None:
        verdict = decide(note, neighbours, policy, judgement, shown=compared, unread=unread)
    verdict = _in_time(verdict, note, decision, policy)
    return Replayed(
        decision=decision,
        verdict=verdict,
        is_same=_effect(verdict.by_id()) == _effect(decision.verdict),
        would_ask=would_ask,
    )


def _in_time(verdict: Verdict, note: Note, decision: Decision, policy: ReconcilePolicy) -> Verdict:
    """Limit the verdict to the decision's day: a planned fact ends nothing before its day."""
    if note.is_ahead(decision.at):
        return announced(verdict, note)[0]
    return of_today(verdict, note, policy, ())[0]


def policy_of(decision: Decision) -> ReconcilePolicy:
    """Return the thresholds of the decision, as far as they are on record."""
    return ReconcilePolicy(
        cosine_update_min=decision.policy.cosine_update_min,
        cosine_add_max=decision.policy.cosine_add_max,
        cosine_cut=decision.policy.cosine_cut,
        guard=decision.policy.guard,
        reach=decision.policy.reach,
    )


def _reaching(policy: ReconcilePolicy, reach: float | None) -> ReconcilePolicy:
    """Return the policy; if a judge was asked below the band then, its answer counts again."""
    if policy.reach is not None or reach is None:
        return policy
    return replace(policy, reach=min(reach, policy.cosine_add_max))


def _unread_in(decision: Decision) -> Unread:
    """Return the parts that the model could not read, if that kept note and fact apart."""
    unread_findings = [
        finding for finding in decision.verdict.findings if finding.kind is Difference.UNREAD
    ]
    known = canonical_text(decision.text).casefold()

    def unread(text: str) -> str:
        is_note = canonical_text(text).casefold() == known
        return next((each.in_note if is_note else each.in_fact for each in unread_findings), "")

    return unread


def _note(decision: Decision) -> Note:
    # Whether a start was given is not on record: only then is what repeats a newer fact history.
    said_at, holds_from = decision.note.said_at, decision.note.holds_from
    is_start_given = holds_from != said_at or decision.verdict.is_history
    return Note(
        scope=decision.scope,
        text=decision.text,
        said_at=said_at,
        valid_from=holds_from if is_start_given else None,
        source_kind=decision.note.trust,
        slot=decision.note.slot,
        slot_read_from=decision.note.slot_read_from,
        category=decision.gate.category if decision.gate else None,
        is_hedged=decision.note.is_hedged,
        is_cleaned=True,
    )


def _neighbours(decision: Decision) -> list[Neighbour] | None:
    if decision.decided_by is DecidedBy.NOOP:
        return None
    return [
        replace(fact, is_upcoming=fact.valid_from - decision.at > CLOCK_SKEW_MAX)
        for fact in sorted(decision.compared_with, key=lambda fact: fact.rank)
    ]


def _was_left_open(decision: Decision) -> bool:
    """True if a note of a known value did not say that it still holds; its vector is not kept."""
    compared = decision.compared_with
    return any(is_left_open(decision.note, decision.verdict, fact) for fact in compared)


def _was_open(decision: Decision, note: Note, neighbours: Sequence[Neighbour] | None) -> bool:
    """True if the decision was an arbiter's then, or would have been if there was one."""
    then = decide(note, neighbours, policy_of(decision), unread=_unread_in(decision))
    return decision.opinion.arbiter is not None or then.can_be_arbitrated


def _judgement(opinion: RecordedOpinion, fact_count: int) -> Judgement | None:
    """Return the answer of then, with facts counted as the record ranks them."""
    if opinion.relation is None or opinion.action is None or opinion.error is not None:
        return None
    judgement = Judgement(
        reasoning=opinion.reasoning or "",
        relation=opinion.relation,
        target=opinion.target,
        also=opinion.also,
        action=opinion.action,
        confidence=1.0 if opinion.confidence is None else opinion.confidence,
    )
    try:
        check_judgement(judgement, fact_count)
    except ArbiterAnswerError:  # it names a fact that is not on record
        return None
    return judgement


Effect = tuple[Outcome, frozenset[str], frozenset[str]]


def _effect(verdict: Verdict[str]) -> Effect:
    return verdict.outcome, frozenset(verdict.targets), frozenset(verdict.conflicts)


def replay_all(memory: BoundMemory, profile: str) -> list[Replayed]:
    """Replay the recorded decisions with other thresholds; writes nothing.

    Left out are decisions that rest on what a model said of the facts, or on what is not on record.

    Args:
        memory: an agent's or a contact's.
        profile: ``seed``, ``minilm`` or the path of a profile.

    Raises:
        ConfigurationError: no such profile, or one of another model.
    """
    services = parts_of(memory, BoundMemory)
    chosen = services.settings.reconcile.model_copy(
        update={
            "profile": profile,
            **dict.fromkeys(("cosine_update_min", "cosine_add_max", "cosine_cut")),
        }
    )
    settings = services.settings.model_copy(update={"reconcile": chosen})
    policy = build_policy(settings, services.embedder.model_id)
    return [replay(each, policy) for each in memory.all_decisions() if is_replayable(each)]
