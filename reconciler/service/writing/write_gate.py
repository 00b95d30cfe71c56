"""The write gate: the only way to the reconciler. Disposes of candidates, and keeps a record.

The checks and their weights are in ``reconciler.domain.gate``. Here a candidate is cleaned, judged
by earlier decisions about the same inference, and then reconciled or recorded. The note reader says
what a judged note resembles as a whole, before the gate decides. The note is later compared by the
same vector, so nothing is embedded twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice

from reconciler.domain.erasing.planning import check_not_erased
from reconciler.domain.gate.checks import EXTRACTORS_CONFIDENCE
from reconciler.domain.gate.disposing import (
    answer_since,
    assess,
    consent_to,
    contradicted,
    with_effective_source,
)
from reconciler.domain.records.candidates import (
    ALL_PASSED,
    Assessment,
    Candidate,
    Evidence,
    precedents_of,
)
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.kinds import (
    LIVE_DOOR,
    NOT_FOR_CONTACTS,
    PROPOSAL_DOOR,
    Action,
    Clock,
    Disposal,
    GateReason,
    SourceKind,
)
from reconciler.domain.records.notes import MEMBERSHIP, Note, Scope
from reconciler.errors import (
    ConfigurationError,
    EmbeddingError,
    InvalidNoteError,
    InvalidRequestError,
)
from reconciler.floats import Embed, Floats
from reconciler.frozen import StringSet, in_order
from reconciler.reading.cues.languages import is_surely_english
from reconciler.reading.cues.leanings import Leanings
from reconciler.service.stores.commits import Commit
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.fact_store import FactStore
from reconciler.service.stores.rows import batches
from reconciler.service.writing.cleaning import Cleaner
from reconciler.service.writing.forgotten import earlier_decisions
from reconciler.service.writing.ledger import Ledger, Seen
from reconciler.service.writing.memory_reconciler import MemoryReconciler
from reconciler.service.writing.submissions import (
    DecisionIds,
    Submission,
    check_key,
    own_episode_of,
    settlement_id_of,
    withheld,
)
from reconciler.tracing import span


@in_order
class NoteReader:
    """Embeds judged notes, and reads their leanings.

    Attributes:
        embed: makes vectors that can be compared.
        leanings: reads a text and its vector; None if no head was trained on the model.
    """

    embed: Embed
    leanings: Callable[[str, Floats], Leanings] | None

    def is_read(self, submission: Submission) -> bool:
        """True if a note's whole meaning may matter: words that are refused stay refused.

        Of a note that is compared anyway, ``leanings_of`` asks for the language, as the last thing:
        the detector of languages takes 80 MB and 0.5 s, and few notes resemble anything.
        """
        return (
            self.leanings is not None
            and submission.cleaned is not None
            and submission.assessment.disposal is not Disposal.REJECT
            and (is_compared(submission) or is_surely_english(submission.note.text))
        )

    def with_vector(self, submission: Submission) -> Submission:
        """Return a submission with its vector, if its meaning matters; without if the model fails.

        Then only its words are judged; a step that needs the vector fails by itself.
        """
        if not self.is_read(submission):
            return submission
        try:
            return submission.embedded(self.embed)
        except (EmbeddingError, ConfigurationError):
            return submission

    def leanings_of(self, submission: Submission) -> Leanings | None:
        """Return the leanings of a note with a vector; None if they say nothing.

        The packaged model puts all texts of another language near each other, scraps or not.
        """
        if self.leanings is None or submission.vector is None or not self.is_read(submission):
            return None
        found = self.leanings(submission.note.text, submission.vector)
        is_in_doubt = submission.assessment.reason is GateReason.DIRECTIVE
        says_something = found.shares or (found.is_no_order and is_in_doubt)
        return found if says_something and is_surely_english(submission.note.text) else None


_MAY_AGREE = (
    GateReason.THIN_EVIDENCE,
    GateReason.UNTRUSTED_SOURCE,
    GateReason.SENSITIVE_TOPIC,
    GateReason.NEEDS_APPROVAL,
)
"""Reasons to hold a candidate that do not matter if it repeats a known fact: that fact was already
admitted, with consent or approval if it needed any."""

_DOORS_OF_CALLERS = (LIVE_DOOR, PROPOSAL_DOOR)
"""Doors at which a caller chooses the key of a note; at others the key is made from the
proposal."""

_BATCH_DECISIONS = 50
"""Decisions in one transaction: larger batches make no decision cheaper."""


@dataclass(kw_only=True, eq=False)
class Judging:
    """The gate's assessment of candidates; reads and writes nothing.

    Attributes:
        cleaner: removes the data that may not be kept, and has floors, handlings and domains.
        reader: reads what a note resembles as a whole.
        decision_ids: makes the ids of decisions.
        clock: the time now, UTC-aware.
    """

    cleaner: Cleaner
    reader: NoteReader
    decision_ids: DecisionIds
    clock: Clock

    @span("reconciler.gate")
    def judge(self, candidate: Candidate, door: str = LIVE_DOOR) -> Submission:
        """Return the gate's assessment of a candidate by its words, without precedents.

        Args:
            candidate: the candidate; its agent chooses the domain.
            door: the door that it came through.

        Raises:
            InvalidRequestError: an id or a name holds a secret; ids and names are stored as they
                are given.
            InvalidNoteError: the note would make the contact belong to an account.
        """
        if (slot := candidate.note.slot) and slot.attribute == MEMBERSHIP:
            raise InvalidNoteError("only join_account makes a membership; leave its slot out")
        self.cleaner.check_ids(candidate)
        policy = self.cleaner.policy_of(candidate.note.scope)
        cleaned = self.cleaner.clean(with_effective_source(candidate))
        assessment = assess(cleaned, policy, self.clock())
        return Submission(
            candidate=_as_found(cleaned.candidate, assessment),
            assessment=assessment,
            door=door,
            decision_id=self.decision_ids.of(candidate.note),
            cleaned=cleaned,
            is_own_word=policy.file.sources[cleaned.candidate.note.trust].is_own_word,
        )

    def judge_whole(self, candidate: Candidate, door: str = LIVE_DOOR) -> Submission:
        """Judge like ``judge``, and also by the note's whole meaning; it may have its vector."""
        return self.reread(self.reader.with_vector(self.judge(candidate, door)))

    def reread(self, submission: Submission) -> Submission:
        """Judge a submission again if the note as a whole says more than its words.

        Args:
            submission: the result of ``judge``; without a vector it stays the same.
        """
        leanings, cleaned = self.reader.leanings_of(submission), submission.cleaned
        if leanings is None or cleaned is None:
            return submission
        cleaned = replace(cleaned, leanings=leanings)
        assessment = assess(cleaned, self.cleaner.policy_of(submission.scope), self.clock())
        return replace(
            submission,
            candidate=_as_found(cleaned.candidate, assessment),
            assessment=assessment,
            cleaned=cleaned,
        )


@dataclass(kw_only=True, eq=False)
class WriteGate(Judging):
    """Decides whether a candidate is remembered, and records the decision.

    The default is not to write. A statement from a trusted source is reconciled by the call that
    proposes it. A claim that was read from a text is only proposed, and a second call commits it.

    Methods that could write without its checks are private.

    Args, beside the attributes of ``Judging``:
        fact_store: has what may answer a thin note.
        decision_store: has the earlier decisions about the same inference.
        reconciler: decides about every admitted note.
        ledger: writes.
    """

    fact_store: FactStore
    decision_store: DecisionStore
    reconciler: MemoryReconciler
    ledger: Ledger

    def settle_many(
        self, submissions: Iterable[Submission]
    ) -> Iterator[tuple[Submission, Decision]]:
        """Settle many judged notes in batches, each as ``propose`` with ``may_commit`` does.

        Their keys are not checked; ``check_key`` does that.

        Args:
            submissions: notes from ``judge`` without an earlier decision, each with its vector if
                it ``is_compared``. The notes of one contact are decided in order.

        Raises:
            As ``propose``; the decisions that were yielded until then are kept.
        """
        left = list(submissions)
        while left:
            alone, together, left = _next_of_each_contact(left)
            for submission in alone:
                yield submission, self._settled(submission, may_commit=True, is_new=True)
            for some in batches(together, _BATCH_DECISIONS):
                yield from zip(some, self.reconciler.reconcile_many(some), strict=True)

    def propose(
        self,
        candidate: Candidate,
        door: str,
        *,
        may_commit: bool = False,
        may_ask: bool = True,
    ) -> Decision:
        """Record the gate's disposal of a candidate, and reconcile an admitted one.

        Args:
            candidate: the candidate.
            door: the door that it came through.
            may_commit: whether it is reconciled at once, if it is admitted and its source's own
                word; its evidence is its own then.
            may_ask: whether there is room for another question to the contact.

        Raises:
            InvalidNoteError: it says that it was confirmed, its evidence differs from the stored
                episodes, or a caller gave it the key of another note.
            EmbeddingError: the model failed; nothing was written.
            GraphUnavailableError: the engine stayed unavailable.
            GraphConflictError: other writers came first too often; nothing was written.
        """
        if candidate.confirmed_by:
            raise InvalidNoteError(
                "a candidate must not have confirmed_by; propose it, then confirm it"
            )
        submission = replace(self.judge_whole(candidate, door), may_ask=may_ask)
        if may_commit and submission.is_reconciled:
            decision = self.reconciler.reconcile(submission)
        else:
            if not may_commit and not submission.is_withheld:
                submission = self._with_own_episodes(submission, candidate.evidence)
            decision = self._settled(submission, may_commit=may_commit)
        if door in _DOORS_OF_CALLERS:
            check_key(submission, decision)
        return decision

    def find_earlier(self, candidate: Candidate, door: str) -> Decision | None:
        """Return the decision of an earlier call with the candidate's key; None without one.

        Raises:
            InvalidNoteError: the key belongs to another note or relation.
        """
        note = candidate.note
        if note.idempotency_key is None:
            return None
        known = self.decision_store.find_decision(note.scope, self.decision_ids.of(note))
        if known is None:
            return None
        earlier = known.as_replay()
        check_key(self.judge(candidate, door), earlier)
        return earlier

    def outcome_of(self, note: Note) -> Decision | None:
        """Return the last decision about a proposed note, by its key; None if never proposed."""
        decision_id = self.decision_ids.of(note)
        settled = self.decision_store.find_decision(note.scope, settlement_id_of(decision_id))
        return settled or self.decision_store.find_decision(note.scope, decision_id)

    def to_be_asked(self, candidates: Sequence[Candidate]) -> StringSet:
        """Choose the candidates of a session that the contact may be asked about, by key.

        Their number is limited by the room of the session beside its waiting questions: those that
        contradict a live fact come first, then the most important ones. Of two values of one
        attribute only the later one is asked about, and of one topic that needs consent only one. A
        second call, after some were proposed, gives the same result.

        Args:
            candidates: the candidates of one session, in the order in which they were said; none of
                them is confirmed.
        """
        latest = {
            slot.question: candidate
            for candidate in candidates
            if (slot := candidate.note.slot) and slot.is_single_valued and slot.key
        }
        asked: list[tuple[float, str, str]] = []
        own = {self.decision_ids.of(candidate.note) for candidate in candidates}
        for candidate in candidates:
            slot = candidate.note.slot
            if slot is None or latest.get(slot.question, candidate) is candidate:
                asked += self._question_of(candidate, own)
        if not asked:
            return frozenset()
        note = candidates[0].note
        waiting = sum(
            decision.note.session == note.session
            and decision.decision_id not in own
            and _is_question(decision.judged)
            for decision in self.decision_store.list_pending([note.scope], self.clock())
        )
        room = self.cleaner.policy_of(note.scope).file.confirmation.session_questions_max
        matters: dict[str, str] = {}
        for _, matter, key in sorted(asked, key=lambda each: -each[0]):
            matters.setdefault(matter, key)
        return frozenset(islice(matters.values(), max(room - waiting, 0)))

    def _question_of(self, candidate: Candidate, own_ids: Set[str]) -> list[tuple[float, str, str]]:
        """Return a candidate's weight, matter and key, if the contact would be asked about it."""
        note = candidate.note
        try:
            submission = self._with_precedents(self.judge_whole(candidate))
        except InvalidRequestError:  # the proposer is told
            return []
        assessment = submission.assessment
        if note.idempotency_key is None or not _is_question(assessment):
            return []
        if submission.held_id is not None and submission.held_id not in own_ids:
            return []  # it waits already
        live = self.fact_store.list_facts(note.scope)
        is_against = contradicted(submission.note.slot, candidate.relations, live) is not None
        question = assessment.question or ""
        matter = question.partition("“")[0] if consent_to(assessment) else question
        weight = is_against + (submission.note.importance or 0.0)
        return [(weight, matter, note.idempotency_key)]

    def commit(self, scope: Scope, decision_id: str, door: str) -> Decision:
        """Reconcile an admitted proposal; repeated calls return the first decision.

        Args:
            scope: the contact of the proposal.
            decision_id: the gate's decision that admitted it.
            door: the door that asks for it.

        Raises:
            UnknownDecisionError: the contact has no such decision.
            InvalidRequestError: the gate did not admit it, or it was taken back.
            EmbeddingError, GraphUnavailableError, GraphConflictError: as ``propose``.
        """
        proposal = self.decision_store.get_decision(scope, decision_id)
        if proposal.action is not Action.ADMIT:
            raise InvalidRequestError(
                f"decision {decision_id} is {proposal.action}; the gate must admit a proposal "
                "before it can be committed"
            )
        check_not_erased(proposal)
        proposed = candidate_of(proposal, self.decision_store)
        candidate = replace(proposed, relations=proposal.proposal.relations)
        if (ends_at := candidate.holds_until) is not None and ends_at <= self.clock():
            candidate = replace(candidate, holds_until=None, ended_at=ends_at)
        today = self._with_precedents(self.judge_whole(candidate))
        submission = Submission(
            candidate=candidate,
            assessment=proposal.judged,
            door=door,
            decision_id=settlement_id_of(decision_id),
            settles_id=decision_id,
        )
        if today.assessment.disposal is Disposal.REJECT:
            refused = replace(submission, assessment=today.assessment)
            decision = self.reconciler.record(refused, Action.REJECT)
        else:
            if today.note.text == candidate.note.text:  # today's policy may take out more
                submission = replace(submission, vector=today.vector, embed_ms=today.embed_ms)
            decision = self.reconciler.reconcile(submission)
        if decision.action is Action.WITHDRAW:
            raise InvalidRequestError(f"proposal {decision_id} was taken back; propose it again")
        return decision

    def settle(self, submission: Submission) -> Decision:
        """Record the disposal of a judged candidate, as ``propose`` does; reconcile nothing."""
        return self._settled(submission, may_commit=False)

    def _settled(
        self, submission: Submission, *, may_commit: bool, is_new: bool = False
    ) -> Decision:
        """Return the decision about a candidate that is not reconciled as it is."""
        if submission.is_withheld:
            submission = withheld(submission, submission.assessment.reason)
        if not is_new and (earlier := self.ledger.find_earlier(submission)):
            return earlier
        if submission.assessment.reason in _MAY_AGREE and (
            known := self.reconciler.reconfirm(_agreeing(submission), submission.assessment.detail)
        ):
            return known
        # A hedged word of the source's own may be enough once it is repeated. A claim that was
        # read out of a text is not written here.
        may_be_enough = may_commit and submission.is_own_word

        def plan(seen: Seen) -> Commit | Submission:
            made = self._with_precedents(submission)
            if may_be_enough and made.is_reconciled:
                return made
            is_admitted = made.assessment.disposal is Disposal.ADMIT
            action = Action.ADMIT if is_admitted else Action.REJECT
            if made.assessment.is_held:
                action = Action.HOLD
            return self.reconciler.as_disposed(made, action, seen)

        # What is only recorded is compared with nothing.
        settled = self.ledger.write(replace(submission, vector=None), plan)
        if isinstance(settled, Submission):
            return self.reconciler.reconcile(settled)
        return settled

    def _with_own_episodes(self, submission: Submission, given: tuple[Evidence, ...]) -> Submission:
        cleaned = submission.cleaned
        if cleaned is None or not cleaned.candidate.evidence:
            return submission
        own = self.decision_store.as_own_episodes(
            submission.scope, given, cleaned.candidate.evidence
        )
        cleaned = replace(cleaned, candidate=replace(cleaned.candidate, evidence=own))
        submission = replace(
            submission, cleaned=cleaned, candidate=replace(submission.candidate, evidence=own)
        )
        if not any(evidence.is_pending_erasure for evidence in own):
            return submission
        policy = self.cleaner.policy_of(submission.scope)
        return replace(submission, assessment=assess(cleaned, policy, self.clock()))

    def _with_precedents(self, submission: Submission) -> Submission:
        """Judge a submission again by earlier decisions on its inference if they may matter."""
        first, cleaned, note = submission.assessment, submission.cleaned, submission.note
        is_thin = first.is_held or first.reason is GateReason.BELOW_FLOOR
        if cleaned is None or submission.is_reconciled or not (is_thin or submission.is_admitted):
            return submission
        now = self.clock()
        facts = self.fact_store.list_facts(note.scope) if is_thin else []
        live = (fact for fact in facts if fact.as_of(now).is_live)
        earlier = earlier_decisions(
            self.fact_store, self.decision_store, note.scope, first.inference_key, now
        )
        against = contradicted(note.slot, submission.candidate.relations, live)
        precedents = precedents_of(
            earlier,
            now,
            is_answered=note.is_dated
            and answer_since(note, facts, consent_to=consent_to(first)) is not None,
            contradicted=None if against is None else against.text,
        )
        assessment = assess(cleaned, self.cleaner.policy_of(note.scope), now, precedents)
        if not submission.may_ask and _is_question(assessment):
            assessment = replace(assessment, question=None)
        # A question filed under a note that waits silently would not be seen.
        silent_id = precedents.waiting_id if assessment.question is None else None
        held_id = precedents.pending_id or silent_id
        return replace(
            submission, assessment=assessment, held_id=held_id if assessment.is_held else None
        )


def _next_of_each_contact(
    submissions: Sequence[Submission],
) -> tuple[list[Submission], list[Submission], list[Submission]]:
    """Return the candidates to settle next: recorded only, then reconciled; and the rest.

    A candidate that is only recorded depends on earlier decisions. So it waits until the earlier
    candidates of its contact are written, and the later ones wait for it.
    """
    alone: list[Submission] = []
    together: list[Submission] = []
    left: list[Submission] = []
    begun: set[str] = set()
    waiting: set[str] = set()
    for submission in submissions:
        key, is_alone = submission.scope.contact_key, not submission.is_reconciled
        if key in waiting or (is_alone and key in begun):
            waiting.add(key)
            left.append(submission)
        elif is_alone:
            alone.append(submission)
        else:
            begun.add(key)
            together.append(submission)
    return alone, together, left


def is_compared(submission: Submission) -> bool:
    """True if a judged candidate is compared with the known facts, and so needs a vector."""
    return submission.is_reconciled or submission.assessment.reason in _MAY_AGREE


def _as_found(candidate: Candidate, assessment: Assessment) -> Candidate:
    """Return a candidate with the gate's findings about it, and an episode that it rests on.

    If an extractor only passes on the contact's word, the note counts as the contact's word from
    here on.
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


def candidate_of(decision: Decision, store: DecisionStore) -> Candidate:
    """Return the candidate of a decision, made from the record; its own episode comes first."""
    judged = decision.judged
    evidence = store.list_evidence(decision.decision_id, decision.scope)
    evidence.sort(key=lambda item: item.episode_id != decision.episode_id)
    return Candidate(
        note=replace(
            decision.note,
            valid_from=decision.note.holds_from,
            category=judged.category,
            topic=judged.topic,
            contact_name=None,
            idempotency_key=None,
            is_dated=True,
        ),
        evidence=tuple(evidence),
        proposed_by=decision.proposal.proposed_by or "unknown",
        confidence=_extractors_confidence(judged),
        holds_until=decision.proposal.holds_until,
    )


def _extractors_confidence(assessment: Assessment) -> float | None:
    """Return the extractor's own confidence, if the score began with it; 1 for contacts."""
    if assessment.is_contacts_word:
        return 1.0
    first = next(iter(assessment.parts), None)
    return first.effect if first and first.name == EXTRACTORS_CONFIDENCE else None


def _agreeing(submission: Submission) -> Submission:
    """Return the submission as admitted, because it repeats a known fact."""
    assessment = submission.assessment.disposed(Disposal.ADMIT, GateReason.ADMITTED, ALL_PASSED)
    return replace(submission, assessment=assessment)


def _is_question(assessment: Assessment) -> bool:
    """True if the contact is asked."""
    return assessment.question is not None and assessment.reason not in NOT_FOR_CONTACTS
