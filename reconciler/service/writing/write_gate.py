"""The write gate: the only way to the reconciler. Disposes of candidates, and keeps a record.

What the checks are and what they weigh is in ``reconciler.domain.gate``; here a candidate is
cleaned, judged against what became of the same inference before, and then reconciled or recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from reconciler.domain.erasing.redaction import check_not_erased
from reconciler.domain.gate.disposing import assess, with_effective_source
from reconciler.domain.gate.precedents import precedents_of
from reconciler.domain.gate.questions import answer_since, contradicts
from reconciler.domain.gate.scoring import EXTRACTORS_CONFIDENCE
from reconciler.domain.records.assessment import ALL_PASSED, Assessment
from reconciler.domain.records.candidates import Candidate, Evidence
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.kinds import (
    LIVE_DOOR,
    NOT_FOR_CONTACTS,
    Action,
    Disposal,
    GateReason,
    SourceKind,
)
from reconciler.domain.records.scope import Scope
from reconciler.errors import (
    InvalidNoteError,
    InvalidRequestError,
)
from reconciler.service.batches import batches
from reconciler.service.stores.commits import Commit
from reconciler.service.stores.memory_store import MemoryStore
from reconciler.service.writing.cleaning import Cleaner
from reconciler.service.writing.decision_ids import DecisionIds, settlement_id_of
from reconciler.service.writing.earlier_decisions import earlier_decisions
from reconciler.service.writing.ledger import Ledger, Seen
from reconciler.service.writing.memory_reconciler import MemoryReconciler
from reconciler.service.writing.submissions import (
    Submission,
    own_episode_of,
    withheld,
)
from reconciler.tracing import traced

__all__ = ["WriteGate", "candidate_of", "judge"]

_MAY_AGREE = (
    GateReason.THIN_EVIDENCE,
    GateReason.UNTRUSTED_SOURCE,
    GateReason.SENSITIVE_TOPIC,
    GateReason.NEEDS_APPROVAL,
)
"""Why a candidate may be held and yet count as agreeing with what is known: that was admitted, with
consent or approval where it needs one."""

_BATCH_DECISIONS = 50
"""Decisions in one transaction: with more, none of them becomes cheaper."""


class WriteGate:
    """Decides whether a candidate earns its place, and keeps a record of what it decided.

    The default is not to write. A statement from a trusted source is reconciled by the call that
    proposes it. What was read out of a text is only proposed, and a second call commits it.

    Args:
        store: asked what became of the same inference before.
        reconciler: what every admitted note goes through.
        ledger: what writes.
        cleaner: takes out what may not be kept, and knows floors, handlings and domains.
        decision_ids: the ids under which decisions are kept.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self,
        *,
        store: MemoryStore,
        reconciler: MemoryReconciler,
        ledger: Ledger,
        cleaner: Cleaner,
        decision_ids: DecisionIds,
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._reconciler = reconciler
        self._ledger = ledger
        self._cleaner = cleaner
        self._decision_ids = decision_ids
        self._clock = clock

    def judge(self, candidate: Candidate, door: str = LIVE_DOOR) -> Submission:
        """The gate's assessment of a candidate; reads and writes nothing.

        Args:
            candidate: what is proposed.
            door: which door it came through.

        Raises:
            InvalidRequestError: an id or a name that is kept as it is given holds a secret.
        """
        self._cleaner.check_ids(candidate)
        decision_id = self._decision_ids.of(candidate.note)
        return judge(candidate, self._cleaner, self._clock(), door, decision_id)

    def settle_many(self, submissions: Iterable[Submission]) -> Iterator[Decision]:
        """As ``propose`` that may commit, of many that were judged already, written in batches.

        Args:
            submissions: notes as ``judge`` found them that no earlier call decided about, each with
                its vector if it is to be reconciled. Those of one contact are decided in order.

        Raises:
            As ``propose``; what was yielded until then stands.
        """
        left = list(submissions)
        while left:
            alone, together, left = _next_of_each_contact(left)
            for submission in alone:
                yield self._settled(submission, may_commit=True)
            for some in batches(together, _BATCH_DECISIONS):
                yield from self._reconciler.reconcile_many(some)

    def propose(
        self,
        candidate: Candidate,
        door: str,
        *,
        may_commit: bool = False,
        may_be_fallback: bool = False,
        may_ask: bool = True,
    ) -> Decision:
        """Record the gate's disposal of a candidate, and reconcile an admitted one.

        Args:
            candidate: what is proposed.
            door: which door it came through.
            may_commit: whether it is reconciled at once, if it is admitted and its source's own
                word; its evidence is its own then.
            may_be_fallback: whether it may be raw words that no extractor could read.
            may_ask: whether there is room for another question to the contact; without it what is
                held waits silently.

        Raises:
            InvalidNoteError: it is unknown who confirmed it, its evidence is not what is stored
                under its ids, or its proposer's name is reserved.
            EmbeddingError: the model failed; nothing was written.
            GraphUnavailableError: the engine stayed unavailable.
            GraphConflictError: other writers came first too often; nothing was written.
        """
        if not may_be_fallback:
            _refuse_fallback(candidate)
        if candidate.confirmed_by:
            raise InvalidNoteError(
                "a candidate must not have confirmed_by; propose it, then confirm it"
            )
        submission = replace(self.judge(candidate, door), may_ask=may_ask)
        if may_commit and submission.is_reconciled:
            return self._reconciler.reconcile(submission)
        if not may_commit and not submission.is_withheld:
            submission = self._with_own_episodes(submission, candidate.evidence)
        return self._settled(submission, may_commit=may_commit)

    def to_be_asked(self, candidates: Sequence[Candidate]) -> frozenset[str]:
        """The candidates of one session that the contact may be asked about, by idempotency key.

        The most important ones, as far as the session has room for questions beside those that
        wait. Called again after some of them were proposed, it gives the same.

        Args:
            candidates: of one session, none of them proposed before this session was read.
        """
        asked: list[tuple[float, str]] = []
        for candidate in candidates:
            question = self._question_of(candidate)
            if question is not None:
                asked.append(question)
        if not asked:
            return frozenset()
        note = candidates[0].note
        own = {self._decision_ids.of(candidate.note) for candidate in candidates}
        waiting = sum(
            decision.note.session_id == note.session_id
            and decision.decision_id not in own
            and _is_question(decision.gate)
            for decision in self._store.list_pending([note.scope], self._clock())
        )
        room = self._cleaner.policy_of(note.scope).file.confirmation.session_questions_max
        by_weight = sorted(asked, key=lambda pair: -pair[0])
        return frozenset(key for _, key in by_weight[: max(room - waiting, 0)])

    def _question_of(self, candidate: Candidate) -> tuple[float, str] | None:
        """Its importance and key, if the contact would be asked about it."""
        key = candidate.note.idempotency_key
        try:
            submission = self._with_precedents(self.judge(candidate))
        except InvalidRequestError:  # the proposer is told
            return None
        if key is None or not _is_question(submission.assessment):
            return None
        return submission.note.importance or 0.0, key

    def commit(self, scope: Scope, decision_id: str, door: str) -> Decision:
        """Remember what a proposal was admitted as; once, however often it is called.

        Args:
            scope: whom the proposal is about.
            decision_id: the gate's decision that admitted it.
            door: which door asks for it.

        Raises:
            UnknownDecisionError: the contact has no such decision.
            InvalidRequestError: it is no proposal that the gate let through, or was taken back.
            EmbeddingError, GraphUnavailableError, GraphConflictError: as ``propose``.
        """
        proposal = self._store.get_decision(scope, decision_id)
        if proposal.action is not Action.ADMIT:
            raise InvalidRequestError(
                f"decision {decision_id} is {proposal.action}; only a proposal that the gate "
                "admitted can be committed"
            )
        assert proposal.gate is not None, "what was admitted was judged"  # noqa: S101
        check_not_erased(proposal)
        proposed = candidate_of(proposal, self._store.list_evidence(decision_id, scope))
        candidate = replace(proposed, relations=proposal.proposal.relations)
        submission = Submission(
            candidate=candidate,
            assessment=proposal.gate,
            door=door,
            decision_id=settlement_id_of(decision_id),
            settles_id=decision_id,
        )
        if refused := self._refused_since(candidate):
            decision = self._reconciler.record(
                replace(submission, assessment=refused), Action.REJECT
            )
        else:
            decision = self._reconciler.reconcile(submission)
        if decision.action is Action.WITHDRAW:
            raise InvalidRequestError(f"proposal {decision_id} was taken back; propose it again")
        return decision

    def _refused_since(self, candidate: Candidate) -> Assessment | None:
        """Why the gate would refuse today what it admitted then, if it would."""
        today = self._with_precedents(self.judge(candidate)).assessment
        return today if today.disposal is Disposal.REJECT else None

    def settle(self, submission: Submission) -> Decision:
        """As ``propose``, of what was judged already; nothing is reconciled by this call."""
        return self._settled(submission, may_commit=False)

    def _settled(self, submission: Submission, *, may_commit: bool) -> Decision:
        """The decision about a candidate that is not reconciled as it stands."""
        if submission.is_withheld:
            submission = withheld(submission, submission.assessment.reason)
        if earlier := self._ledger.find_earlier(submission):
            return earlier
        if submission.assessment.reason in _MAY_AGREE and (
            known := self._reconciler.reconfirm(_agreeing(submission), submission.assessment.detail)
        ):
            return known
        # Repeated, a hedged word of one's own may be enough; what was read out is not written here.
        if may_commit and submission.is_own_word:
            repeated = self._with_precedents(submission)
            if repeated.is_reconciled:
                return self._reconciler.reconcile(repeated)

        def plan(seen: Seen) -> Commit:
            made = self._with_precedents(submission)
            return self._reconciler.as_disposed(made, _action_of(made.assessment), seen)

        return self._ledger.write(submission, plan)

    def _with_own_episodes(self, submission: Submission, given: tuple[Evidence, ...]) -> Submission:
        cleaned = submission.cleaned
        if cleaned is None or not cleaned.candidate.evidence:
            return submission
        own = self._store.as_own_episodes(submission.scope, given, cleaned.candidate.evidence)
        cleaned = replace(cleaned, candidate=replace(cleaned.candidate, evidence=own))
        submission = replace(
            submission, cleaned=cleaned, candidate=replace(submission.candidate, evidence=own)
        )
        if not any(evidence.is_pending_erasure for evidence in own):
            return submission
        policy = self._cleaner.policy_of(submission.scope)
        return replace(submission, assessment=assess(cleaned, policy, self._clock()))

    def _with_precedents(self, submission: Submission) -> Submission:
        """Judged again with what became of the same inference before, where that may matter."""
        first, cleaned, note = submission.assessment, submission.cleaned, submission.note
        is_thin = first.is_held or first.reason is GateReason.BELOW_FLOOR
        if cleaned is None or submission.is_reconciled or not (is_thin or submission.is_admitted):
            return submission
        now = self._clock()
        facts = self._store.list_facts(note.scope) if is_thin else []
        live = (fact for fact in facts if fact.as_of(now).is_live)
        earlier = earlier_decisions(self._store, note.scope, first.inference_key, now)
        precedents = precedents_of(
            earlier,
            now,
            is_answered=note.is_dated and answer_since(note, facts) is not None,
            is_contradicting=contradicts(submission.candidate, live),
        )
        policy, may_ask = self._cleaner.policy_of(note.scope), submission.may_ask
        assessment = assess(cleaned, policy, now, precedents, may_ask=may_ask)
        # A question is not filed under what waits without one, where it would not be seen.
        silent_id = precedents.waiting_id if assessment.question is None else None
        held_id = precedents.pending_id or silent_id
        return replace(
            submission, assessment=assessment, held_id=held_id if assessment.is_held else None
        )


def _next_of_each_contact(
    submissions: Sequence[Submission],
) -> tuple[list[Submission], list[Submission], list[Submission]]:
    """The candidates that can be settled next: recorded only, then reconciled; and the rest.

    What is only recorded looks at what was decided before, so it waits until what came before it
    about its contact is written, and what comes after it waits for it.
    """
    alone: list[Submission] = []
    together: list[Submission] = []
    left: list[Submission] = []
    begun: set[str] = set()
    waiting: set[str] = set()
    for submission in submissions:
        key, is_alone = submission.scope.contact_key, submission.vector is None
        if key in waiting or (is_alone and key in begun):
            waiting.add(key)
            left.append(submission)
        elif is_alone:
            alone.append(submission)
        else:
            begun.add(key)
            together.append(submission)
    return alone, together, left


@traced("gate")
def judge(
    candidate: Candidate, cleaner: Cleaner, now: datetime, door: str, decision_id: str
) -> Submission:
    """The gate's assessment of a candidate without precedents.

    Args:
        candidate: as it was proposed.
        cleaner: takes out what may not be kept; the candidate's agent chooses the domain.
        now: the time now (UTC).
        door: which door it came through.
        decision_id: the id that its decision would have.
    """
    policy = cleaner.policy_of(candidate.note.scope)
    cleaned = cleaner.clean(with_effective_source(candidate))
    assessment = assess(cleaned, policy, now)
    return Submission(
        candidate=_as_found(cleaned.candidate, assessment),
        assessment=assessment,
        door=door,
        decision_id=decision_id,
        cleaned=cleaned,
        is_own_word=policy.file.sources[cleaned.candidate.note.trust].is_own_word,
    )


def _as_found(candidate: Candidate, assessment: Assessment) -> Candidate:
    """The candidate with what the gate found out about it, and an episode that it rests on.

    Its note is the contact's word from here on where an extractor only passes that on. The gate
    itself judges it as the extractor's.
    """
    told = candidate.note
    note = replace(
        told,
        source_kind=SourceKind.USER_EXPLICIT if assessment.is_contacts_word else told.source_kind,
        category=assessment.category,
        topic=assessment.topic,
        importance=assessment.importance if told.importance is None else told.importance,
        is_hedged=assessment.is_hedged,
    )
    return replace(candidate, note=note, evidence=candidate.evidence or (own_episode_of(note),))


def candidate_of(decision: Decision, evidence: Sequence[Evidence]) -> Candidate:
    """The candidate that a decision was about, as far as it is on record."""
    assessment = decision.gate
    own = [item for item in evidence if item.episode_id == decision.episode_id]
    others = [item for item in evidence if item.episode_id != decision.episode_id]
    return Candidate(
        note=replace(
            decision.note,
            valid_from=decision.note.holds_from,
            category=assessment.category if assessment else None,
            topic=assessment.topic if assessment else None,
            contact_name=None,
            idempotency_key=None,
            is_dated=True,
        ),
        evidence=(*own, *others),
        proposed_by=decision.proposal.proposed_by or "unknown",
        confidence=_extractors_confidence(assessment),
        holds_until=decision.proposal.holds_until,
    )


def _extractors_confidence(assessment: Assessment | None) -> float | None:
    """The start of a score by an extractor's own confidence."""
    first = next(iter(assessment.parts), None) if assessment else None
    return first.effect if first and first.name == EXTRACTORS_CONFIDENCE else None


def _refuse_fallback(candidate: Candidate) -> None:
    """Raw words have no floor, so a caller may not claim that its words are raw."""
    if candidate.is_fallback:
        raise InvalidNoteError(
            f"proposed_by {candidate.proposed_by!r} is reserved; name who proposes it"
        )


def _agreeing(submission: Submission) -> Submission:
    """The same, as what is admitted only because it is known already."""
    assessment = submission.assessment.disposed(Disposal.ADMIT, GateReason.ADMITTED, ALL_PASSED)
    return replace(submission, assessment=assessment)


def _is_question(assessment: Assessment | None) -> bool:
    """Whether the contact is asked."""
    return (
        assessment is not None
        and assessment.question is not None
        and assessment.reason not in NOT_FOR_CONTACTS
    )


def _action_of(assessment: Assessment) -> Action:
    if assessment.is_held:
        return Action.HOLD
    return Action.ADMIT if assessment.disposal is Disposal.ADMIT else Action.REJECT
