"""The reconciler: compares an admitted note with the known facts, and plans what to write.

Nothing here writes: the ledger writes the plans that are made here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial

from reconciler.domain.reconciling.ahead import (
    NO_EFFECTS,
    Effects,
    Plans,
    announced,
    as_of_its_plan,
    as_past,
    as_told_to_end,
    ending,
    ends_after,
    of_today,
    over,
)
from reconciler.domain.reconciling.by_slot import is_left_open
from reconciler.domain.reconciling.disputes import (
    as_ruled,
    contest,
    end_of_known,
    settle,
    standing_beside,
    with_suspended,
)
from reconciler.domain.reconciling.restating import (
    confirmed,
    observed,
    restating,
    with_slot_of,
    without_ended_value,
    written_fact,
)
from reconciler.domain.reconciling.rule import dated, decide, restated, shown_to_judge
from reconciler.domain.reconciling.verdicts import amended
from reconciler.domain.records.candidates import Evidence
from reconciler.domain.records.decisions import (
    Decision,
    Judgement,
    RecordedOpinion,
    Timings,
    Undo,
    Verdict,
)
from reconciler.domain.records.facts import (
    Conflicts,
    Fact,
    JudgedNeighbour,
    Neighbour,
    Neighbours,
    Relations,
    by_fact_id,
    check_not_ended,
    handle_of,
)
from reconciler.domain.records.kinds import (
    OWN_WORDS,
    PATIENT_DOORS,
    Action,
    Clock,
    DecidedBy,
    FactState,
    Relation,
)
from reconciler.domain.records.notes import Note, Scope
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.errors import GraphConflictError, InvalidRequestError, RelationError
from reconciler.floats import Floats
from reconciler.frozen import StringSet, field_names, grouped, in_order, picked
from reconciler.ports.embedder import Embedder
from reconciler.reading.cues.classification import infer_category
from reconciler.reading.guard import is_english
from reconciler.reading.kinds import Category
from reconciler.reading.linear_head import LinearHead
from reconciler.service.embedding import embed, unread
from reconciler.service.stores.commits import Commit
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.fact_store import FactStore
from reconciler.service.stores.rows import no_vectors
from reconciler.service.writing.arbitration import Arbitration, Opinion
from reconciler.service.writing.ledger import Ledger, Seen
from reconciler.service.writing.retelling import Beneath, Retelling
from reconciler.service.writing.submissions import Submission, recorded, recorded_policy
from reconciler.tracing import span

_TAKEN_BACK_COSINE_MIN = 0.4
"""The cosine below which a withdrawal is of another permission. In 18 pairs by a blind writer,
pairs of one matter were above it, and pairs of two matters below 0.25."""

_REPLACED_COSINE_MIN = 0.3
"""The cosine below which a note is about another matter than the replaced fact. In 13 pairs by a
reviewer, pairs of one matter were above 0.39, and pairs of two matters below 0.3."""

_Opinions = dict[tuple[str, Neighbours], Opinion]
"""An arbiter's answers, by the note's decision and the neighbours that it was shown."""


@in_order
class _Question:
    """A question for the arbiter, asked after the contact's turn is given back."""

    arbitration: Arbitration
    key: tuple[str, Neighbours]
    note: Note
    number: int


@dataclass(kw_only=True, eq=False)
class MemoryReconciler:
    """Decides about a note that the gate admitted: new, a repetition, a replacement or a dispute.

    Embedding and arbitrating happen outside the contact's turn and outside any transaction, since
    an arbiter may take seconds; a judge that takes milliseconds is asked within the turn.

    Attributes:
        fact_store: the facts that a fact superseded.
        decision_store: the decisions that plans follow from.
        ledger: writes.
        embedder: with ``dimension`` 0 every note is an ADD.
        arbitration: judges the band between the thresholds; with None the cut decides.
        policy: the thresholds.
        end_head: distinguishes a note of an end from a plain statement, as ``load_head`` returns
            it; None if the model has no such head.
        reads_consent: says whether a text, with its vector, gives a permission or takes one back,
            as ``permission`` and ``withdrawal``; None if no head was trained on the model.
        attempts_max: how often the arbiter is asked again, if other writers keep coming first.
        clock: the time now, UTC-aware.
    """

    fact_store: FactStore
    decision_store: DecisionStore
    ledger: Ledger
    embedder: Embedder
    arbitration: Arbitration | None
    policy: ReconcilePolicy
    end_head: LinearHead | None = None
    reads_consent: Callable[[str, Floats], Collection[str]] | None = None
    attempts_max: int
    clock: Clock

    def __post_init__(self) -> None:
        self._unread = partial(unread, self.embedder)
        self._recorded_policy = recorded_policy(self.policy, self.embedder.model_id)
        self._retelling = Retelling(
            self.fact_store, self.decision_store, self.embedder.model_id, self.embed
        )

    def forget_answers(self) -> None:
        """Forget the arbiter's answers that this process remembers."""
        if self.arbitration is not None:
            self.arbitration.forget()

    @span("reconciler.embed")
    def embed(self, texts: Sequence[str]) -> Floats:
        """Make vectors that can be compared: float32, (n, dimension), unit length.

        Raises:
            EmbeddingError: the model failed, or returned vectors that cannot be compared.
        """
        return embed(self.embedder, texts)

    def reconcile(self, submission: Submission) -> Decision:
        """Decide about an admitted note, write the decision with its effects, and return it.

        Args:
            submission: the submission to remember; the gate admitted it.

        Raises:
            EmbeddingError: the model failed; nothing was written.
            GraphUnavailableError: the engine stayed unavailable. Then it is unknown whether the
                last attempt was written; repeat the call with the same idempotency key.
            GraphConflictError: other writers came first too often; nothing was written.
        """
        if not submission.is_admitted:
            raise ValueError("only a note that the gate admits is reconciled")
        earlier = self.ledger.find_earlier(submission)
        return earlier or self._reconciled(submission.embedded(self.embed))

    def reconcile_many(self, submissions: Sequence[Submission]) -> list[Decision]:
        """Decide about many admitted notes, and write them together if possible.

        The notes of one contact are decided in order. A note that cannot be written with the others
        is written alone, so that one bad note does not spoil the batch.

        Args:
            submissions: the submissions to remember, each with its vector; none has an earlier
                decision.

        Raises:
            As ``reconcile``; the decisions written until then are kept.
        """
        made = self.ledger.write_many(submissions, self._plan_of_many)
        return [
            decision or self._reconciled(submission, tried=1)
            for submission, decision in zip(submissions, made, strict=True)
        ]

    def reconfirm(self, submission: Submission, why: str) -> Decision | None:
        """Count one more observation of the live fact that says the same; None without one.

        A note that repeats a known fact needs no confirmation; it is counted, and its words are not
        written as a fact.

        Args:
            submission: the note that may repeat a fact.
            why: the reason why a person would have been asked.

        Raises:
            As ``reconcile``.
        """
        submission = submission.embedded(self.embed)
        return self.ledger.write(submission, partial(self._plan_of_agreement, submission, why))

    def record(self, submission: Submission, action: Action) -> Decision:
        """Record a decision that writes no fact: a disposal of the gate or an answer; only once.

        Raises:
            GraphUnavailableError, GraphConflictError: nothing was written.
        """
        if earlier := self.ledger.find_earlier(submission):
            return earlier
        return self.ledger.write(submission, partial(self.as_disposed, submission, action))

    def as_disposed(
        self,
        submission: Submission,
        action: Action,
        seen: Seen,
        effects: Effects = NO_EFFECTS,
        by: DecidedBy | None = None,
        shown: Sequence[Neighbour] = (),
    ) -> Commit:
        """Plan a record without a fact: a disposal of the gate or a person's answer.

        Args:
            submission: the note or answer.
            action: what was done with it.
            seen: the contact as the plan sees it.
            effects: its effects on known facts.
            by: the person who decided; None for the gate, or the person who answers.
            shown: the facts that are linked with the record.
        """
        verdict = replace(
            submission.disposed(action),
            targets=tuple(fact.fact_id for fact in effects.ended),
            conflicts=effects.against,
            voided=tuple(fact.fact_id for fact in effects.voided),
        )
        if by is not None:
            verdict = replace(verdict, decided_by=by)
        decision = recorded(
            submission,
            verdict,
            self._recorded_policy,
            self.clock(),
            seen.version + 1,
            Timings(attempts=seen.number),
            shown,
        )
        decision = replace(decision, fact_id=effects.stays_id, closed_ids=effects.closed_ids)
        return self._written(decision, submission, seen, effects)

    def _reconciled(self, submission: Submission, tried: int = 0) -> Decision:
        """Decide and write; an arbiter that may take seconds is asked between two turns.

        The arbiter is asked again only if the neighbours that it saw have changed, because another
        writer came first. The first question does not count as a lost race.
        """
        opinions: _Opinions = {}
        asked = Counter[str]()
        plan = partial(self._plan_in_order, opinions, {}, submission)
        while all(count <= self.attempts_max for count in asked.values()):
            made = self.ledger.write(submission, plan, tried)
            if isinstance(made, Decision):
                return made
            decision_id, shown = made.key
            opinions[made.key] = made.arbitration.ask(
                made.note, shown, is_patient=submission.door in PATIENT_DOORS
            )
            asked[decision_id] += 1
            tried = made.number - (asked[decision_id] == 1)
        raise GraphConflictError(
            "other writers changed the facts near this note while the arbiter was asked, "
            f"{self.attempts_max} times; nothing was written, try again"
        )

    def _plan_of_many(self, submission: Submission, seen: Seen) -> Commit | _Question | None:
        """Plan a note of a batch; None for a late note, or history.

        The notes that belong to it must be in the store.
        """
        plan = None if seen.is_late else self._plan({}, submission, seen)
        return None if isinstance(plan, Commit) and plan.decision.is_history else plan

    def _plan_in_order(
        self,
        opinions: _Opinions,
        stories: dict[int, Iterator[Commit | _Question]],
        submission: Submission,
        seen: Seen,
    ) -> Commit | _Question:
        """Plan a note; a late note, or history, as if all notes had been told in order.

        A model, or a person who names facts or gives an end, knows the present facts. A story that
        waits for an answer goes on where it asked, as long as the contact has the same version.
        """
        plain = self._plan(opinions, submission, seen)
        if (
            submission.named_ids
            or submission.amendment
            or submission.ended_at
            or not isinstance(plain, Commit)
            or not (seen.is_late or plain.decision.is_history)
        ):
            return plain
        story = stories.pop(seen.version, None) or self._retelling.plan(
            submission,
            seen,
            plain,
            lambda note, near, beneath: self._plan(
                opinions, note, self.ledger.seen_in(near, note), beneath
            ),
        )
        made = next(story, plain)
        if not isinstance(made, Commit):
            stories[seen.version] = story
        return made

    def _plan(
        self,
        opinions: _Opinions,
        submission: Submission,
        seen: Seen,
        beneath: Beneath | None = None,
    ) -> Commit | _Question:
        """Plan a note, or return the question to ask the arbiter first.

        A quick judge is asked within the plan. ``beneath`` lists predecessors; None asks the store.
        """
        beneath = beneath or self.fact_store.list_predecessors
        note = as_ruled(seen.placed(submission).note, self.policy)
        if not note.is_dated:
            note = replace(note, said_at=self.clock())
        submission, seen, beside = self._apart(submission.about(note), seen)
        verdict, opinion = self._verdict(submission, seen), None
        if self.arbitration and seen.neighbours and self.arbitration.is_open_to(verdict):
            shown = self._with_replaced(self._shown(note, seen), submission, seen, beneath)
            if (key := (submission.decision_id, shown)) not in opinions:
                asked = note.no_earlier_than(
                    fact.valid_from for fact in shown if not fact.is_upcoming
                )
                if not self.arbitration.is_quick:
                    return _Question(self.arbitration, key, asked, seen.number)
                # It answers in milliseconds: to look at the contact twice would take longer.
                opinions[key] = self.arbitration.ask(asked, shown)
            opinion = opinions[key]
            if opinion.judgement and opinion.judgement.says_anything:
                submission, verdict = self._judged(submission, seen, opinion.judgement, shown)
                note = submission.note
        if submission.ended_at is None:
            verdict = settle(verdict, note, seen.disputed, self.policy)
        ends_at = None if submission.amended_id else submission.candidate.holds_until
        told = submission.candidate.relations
        over_ids = told.ends if told else ()
        verdict = with_suspended(verdict, note, ends_at, seen.facts, beside, over_ids)
        note = as_of_its_plan(
            dated(note, verdict),
            verdict,
            self.policy,
            replaced_ids=told.replaces if told else (),
            amended_id=submission.amended_id,
        )
        submission = submission.about(note)
        verdict, until_then = self._in_time(verdict, submission)
        if verdict.is_replacement and submission.vector is not None:
            earlier = beneath(verdict.targets, submission.vector)
            verdict = contest(verdict, note, earlier, self.policy, self._unread)
        return self._commit(submission, verdict, opinion, seen, until_then)

    def _judged(
        self, submission: Submission, seen: Seen, judgement: Judgement, shown: Sequence[Neighbour]
    ) -> tuple[Submission, Verdict]:
        """Return the verdict after a judge's answer; a note that ends a fact may become lasting."""
        lasting = _lasting(submission, judgement, shown, seen)
        verdict = self._decided(lasting, seen, judgement)
        if verdict.is_replacement or lasting is submission:
            return lasting, verdict
        return submission, self._decided(submission, seen, judgement)

    def _apart(
        self, submission: Submission, seen: Seen
    ) -> tuple[Submission, Seen, list[Neighbour]]:
        """Return submission and contact without facts that hold beside a note with another end."""
        candidate, neighbours = submission.candidate, seen.neighbours or ()
        note = candidate.note
        if submission.ended_at is not None or submission.amendment is not None:
            return submission, seen, []
        known = [(each, seen.facts[each.fact_id]) for each in neighbours]
        if candidate.holds_until is None and (ends_at := end_of_known(note, known)):
            candidate = replace(candidate, holds_until=ends_at)
            submission = replace(submission, candidate=candidate)
        told, plans = candidate.relations, cache(partial(self.plans, note.scope))
        beside = standing_beside(
            note,
            candidate.holds_until,
            known,
            told,
            lambda fact: fact if fact.valid_to is None else plans().own(fact),
            self.policy,
        )
        if not beside:
            return submission, seen, []
        left = tuple(each for each in neighbours if each not in beside)
        if told is not None:
            told = told.only({each.fact_id for each in left})
            submission = replace(submission, candidate=replace(candidate, relations=told))
        return submission, replace(seen, neighbours=left), beside

    def _in_time(self, verdict: Verdict, submission: Submission) -> tuple[Verdict, Neighbours]:
        """Return the verdict as of today, and the facts that end on the day that the note names."""
        note = submission.note
        if note.is_ahead(self.clock()):
            return announced(verdict, note)
        if submission.amendment is not None:
            return verdict, ()
        told = submission.candidate.relations
        return of_today(verdict, note, self.policy, told.named_ids if told else ())

    def _verdict(self, submission: Submission, seen: Seen) -> Verdict:
        if submission.amendment is not None:
            return amended(
                submission.note, seen.neighbours, submission.amended_id, submission.amendment
            )
        relations = self._still_held(submission, seen)
        verdict = self._decided(submission, seen, relations=relations)
        if verdict.is_history and relations and relations.ends and not submission.settles_id:
            newer = handle_of(verdict.targets[0].fact_id)
            raise InvalidRequestError(
                f"fact {newer} starts later than this note, so this note becomes history and ends "
                "nothing; say in a separate note what has ended"
            )
        if (ended_at := submission.ended_at) is None:
            return verdict
        known = seen.facts[verdict.target.fact_id] if verdict.target else None
        return as_past(verdict, ended_at, known)

    def _still_held(self, submission: Submission, seen: Seen) -> Relations | None:
        """Return the candidate's relations to facts that have not ended; None if none is left.

        A proposal that was admitted earlier is related only to the facts that are left.

        Raises:
            RelationError: a fact that a new note names has ended, is unknown, or cannot be compared
                with it.
        """
        relations = submission.candidate.relations
        if relations is None:
            return None
        comparable = {neighbour.fact_id for neighbour in seen.neighbours or ()}
        missing = [fact_id for fact_id in relations.named_ids if fact_id not in comparable]
        if missing and submission.settles_id is not None:
            return relations.only(comparable)
        if missing:
            known = self.fact_store.find_facts(submission.scope, missing)
            check_not_ended(submission.scope, missing, known)
            raise RelationError(
                f"fact {handle_of(missing[0])} cannot be compared with this note; leave it out"
                if seen.neighbours is not None
                else "this memory has no model to compare texts with, so facts cannot be "
                "related here"
            )
        return relations

    def _decided(
        self,
        submission: Submission,
        seen: Seen,
        judgement: Judgement | None = None,
        relations: Relations | None = None,
    ) -> Verdict:
        return decide(
            submission.note,
            seen.neighbours,
            self.policy,
            judgement,
            unread=self._unread,
            relations=relations,
            related_by=submission.candidate.related_by,
            is_state=self._is_state(submission),
            taken_back=self._taken_back(submission, seen),
        )

    def _taken_back(self, submission: Submission, seen: Seen) -> StringSet:
        """Return the ids of near permissions that the note's words take back, in English."""
        note, vector, reads = submission.note, submission.vector, self.reads_consent
        if reads is None or vector is None or note.trust not in OWN_WORDS:
            return frozenset()
        near = [fact for fact in seen.neighbours or () if fact.cosine >= _TAKEN_BACK_COSINE_MIN]
        if not near or not is_english(note.text) or "withdrawal" not in reads(note.text, vector):
            return frozenset()
        vectors = self.embed([fact.text for fact in near])
        told = zip(near, vectors, strict=True)
        return frozenset(
            each.fact_id for each, its in told if "permission" in reads(each.text, its)
        )

    def _is_state(self, submission: Submission) -> bool:
        """True if the note is a plain statement, by its vector, in English."""
        head, vector = self.end_head, submission.vector
        if head is None or vector is None or not is_english(submission.note.text):
            return True
        return bool(head.values(vector)[0] < head.bounds[0])

    def _shown(self, note: Note, seen: Seen) -> Neighbours:
        return tuple(shown_to_judge(note, seen.neighbours, self.policy))

    def _with_replaced(
        self, shown: Neighbours, submission: Submission, seen: Seen, beneath: Beneath
    ) -> Neighbours:
        """Return facts with the near facts that they replaced, for the packaged judge.

        "Moved to Linz." replaced "Lives in Graz.", and so a note that ends the second ends the
        first.
        """
        if self.arbitration is None or not self.arbitration.is_free or submission.vector is None:
            return shown
        unknown = [fact for fact in shown if fact.fact_id not in seen.replacing_none]
        earlier = [*beneath(unknown, submission.vector)] if unknown else []
        seen.replacing_none.update(
            {fact.fact_id for fact in unknown} - {each.head_id for each in earlier}
        )
        replaced = grouped(
            (each.head_id, (each.text, each.slot))
            for each in earlier
            if (each.was_contradicted or not each.was_live) and not each.is_void
            if each.cosine >= _REPLACED_COSINE_MIN
        )
        return tuple(
            JudgedNeighbour(
                **picked(fact, field_names(Neighbour)),
                replaced=tuple(replaced[fact.fact_id]),
            )
            if fact.fact_id in replaced
            else fact
            for fact in shown
        )

    def _plan_of_agreement(self, submission: Submission, why: str, seen: Seen) -> Commit | None:
        submission = seen.placed(submission)
        note = submission.note
        known = restated(
            note,
            seen.neighbours,
            self.policy,
            self._unread,
            is_state=self._is_state(submission),
        )
        if known is None:
            return None
        verdict = Verdict(
            action=Action.SKIP,
            decided_by=DecidedBy.GATE,
            reason=f"agrees with a known fact, so no question is asked ({why})",
            targets=(known,),
        )
        return self._commit(submission.about(dated(note, verdict)), verdict, None, seen)

    def _commit(
        self,
        submission: Submission,
        verdict: Verdict,
        opinion: Opinion | None,
        seen: Seen,
        until_then: Sequence[Neighbour] = (),
    ) -> Commit:
        neighbours = seen.neighbours or ()
        decided_on = next(iter((*verdict.targets, *verdict.conflicts, *neighbours)), None)
        decision = recorded(
            submission,
            verdict.by_id(),
            self._recorded_policy,
            self.clock(),
            seen.version + 1,
            Timings(
                attempts=seen.number,
                embed_ms=submission.embed_ms,
                compare_ms=seen.compare_ms,
                arbitrate_ms=opinion.milliseconds if opinion else 0.0,
            ),
            neighbours,
        )
        decision = replace(
            decision,
            cosine=decided_on.cosine if decided_on else None,
            fact_id=_fact_id(verdict, submission.fact_id),
            opinion=self._recorded(opinion, submission.note, seen),
        )
        effects = self._effects(decision, verdict, submission, seen, until_then)
        ends_at = submission.candidate.holds_until
        if effects.kept is not None and ends_at not in (None, effects.kept.expires_at):
            reason = f"{decision.verdict.reason}; its end has a less trusted source"
            decision = replace(decision, verdict=replace(decision.verdict, reason=reason))
        return self._written(decision, submission, seen, effects)

    def _effects(
        self,
        decision: Decision,
        verdict: Verdict,
        submission: Submission,
        seen: Seen,
        until_then: Sequence[Neighbour],
    ) -> Effects:
        """Return the effects of a verdict about a note on facts."""
        note, told = submission.note, submission.candidate.relations
        fact, kept = self._facts(decision, verdict, seen, submission.candidate.evidence[0])
        ended = [seen.facts[each] for each in decision.superseded_ids if each in seen.facts]
        said_over = [each for each in ended if told is not None and each.fact_id in told.ends]
        if fact is not None:
            near = [each for each in seen.neighbours or () if is_left_open(note, verdict, each)]
            fact = without_ended_value(fact, [*said_over, *near])
        if fact is not None and submission.ended_at is not None:
            fact = over(fact, submission.ended_at)
        counted = [seen.facts[kept.fact_id]] if kept is not None else ()
        if (holds_until := submission.candidate.holds_until) is not None:
            # History beneath a newer fact ended when that one began.
            fact = fact and ending(fact, min(holds_until, fact.valid_to or holds_until))
            kept = kept and as_told_to_end(kept, holds_until, note)
        plan, again = fact or kept, verdict.target if verdict.is_restatement else None
        return Effects(
            ended=ended,
            voided=verdict.voided,
            until_then=[(seen.facts[each.fact_id], plan) for each in until_then if plan],
            fact=fact,
            kept=kept,
            counted=counted,
            over_ids=[each.fact_id for each in said_over],
            restated_id=again.fact_id if again else None,
        )

    def _facts(
        self, decision: Decision, verdict: Verdict, seen: Seen, own: Evidence
    ) -> tuple[Fact | None, Fact | None]:
        """Return the new fact, and the known fact with one more observation; either may be None."""
        if verdict.action is Action.REVOKE:
            return None, None
        known = seen.facts[verdict.target.fact_id] if verdict.target else None
        target = known and known.as_of(decision.at)
        says_again = target is not None and (
            verdict.is_restatement or verdict.action is Action.SKIP
        )
        if target is None or not says_again:
            holds_to = target.valid_from if target and verdict.is_history else None
            fact = written_fact(decision, holds_to)
            told = decision.proposal.relations
            is_over = told is not None and target is not None and target.fact_id in told.ends
            if target is not None and verdict.action is Action.UPDATE and not is_over:
                fact = with_slot_of(fact, target)
            return fact, None
        # An episode that this call itself makes cannot have been counted before.
        is_read_again = not own.is_new and self.fact_store.rests_on(
            decision.scope, target.fact_id, own.episode_id
        )
        if verdict.action is Action.SKIP:
            return None, None if is_read_again else confirmed(target, decision)
        if verdict.is_history:
            fact = written_fact(decision, target.valid_from)
            return fact, None if is_read_again else observed(target)
        # An end by a plan is not the new fact's own end; it takes that over from the plans.
        old = target if target.valid_to is None else self.plans(decision.scope).own(target)
        new = written_fact(decision, restates=target)
        return restating(new, old, is_read_again=is_read_again), None

    def _written(
        self, decision: Decision, submission: Submission, seen: Seen, effects: Effects
    ) -> Commit:
        """Return the commit of a decision, with its effects for plans and disputes.

        Plans are read only if they may matter.
        """
        is_planned = effects.depends_on_plans(decision.at)
        plans = self.plans(decision.scope) if is_planned else Plans()
        ends, ended = ends_after(plans, decision.at, effects), effects.ended
        were, are = self._settled(decision, effects.until_then)
        moved = (*effects.moved, *ends.moved)
        # What a revert does not restore by itself: archived facts, and planned ends.
        archived = FactState.ARCHIVED
        of_known_end = [each for each in ended if each.state is archived or each.valid_to]
        changed = (*effects.counted, *of_known_end, *(old for old, _ in moved))
        before = tuple(fact.standing for fact in changed)
        conflicts = (*were, *effects.closed, *(link.as_answered for link in effects.drawn))
        undo = Undo(before=before, conflicts=conflicts) if before or conflicts else None
        is_new = effects.is_heir_new
        return Commit(
            version=seen.version,
            decision=replace(decision, undo=undo, planned_ends=ends.planned),
            evidence=submission.candidate.evidence,
            fact=ends.heir if is_new else effects.fact,
            vector=no_vectors(0) if submission.vector is None else submission.vector,
            restated_id=effects.restated_id,
            kept=effects.kept if is_new else ends.heir,
            voided_from={fact.fact_id: fact.valid_from for fact in effects.voided},
            ended_at=_ended_at(decision.note, ended),
            lapsed=seen.lapsed,
            restored=tuple(new for _, new in moved),
            reopened=(*are, *effects.drawn),
            linked_ids=seen.linked_ids,
            known_sessions=seen.sessions,
        )

    def plans(self, scope: Scope) -> Plans:
        """Return the plans for a contact."""
        facts = by_fact_id(self.fact_store.list_facts(scope))
        return Plans(self.decision_store.list_made(scope), facts)

    def _settled(
        self, decision: Decision, until_then: Sequence[tuple[Fact, Fact]]
    ) -> tuple[Conflicts, Conflicts]:
        """Settle disputes between plans and facts that hold until their day; return both states.

        A plan takes over the disputes of the facts that it replaces.
        """
        known = self.fact_store.list_conflicts(decision.scope) if until_then else ()
        were, are = [], []
        for fact, plan in until_then:
            against = {plan.fact_id, *decision.superseded_ids}
            for conflict in known:
                pair = conflict.ids
                if fact.fact_id not in pair or pair.isdisjoint(against):
                    continue
                if plan.fact_id in pair:
                    were.append(conflict)
                else:
                    conflict = replace(conflict, new_id=plan.fact_id, old_id=fact.fact_id)
                are.append(replace(conflict.as_answered, reason=decision.reason, at=decision.at))
        return tuple(were), tuple(are)

    def _recorded(self, opinion: Opinion | None, note: Note, seen: Seen) -> RecordedOpinion:
        """Return the arbiter's recorded opinion; its target is a rank among all compared facts."""
        if opinion is None:
            return RecordedOpinion()
        told = RecordedOpinion(
            arbiter=opinion.by,
            reasoning=opinion.reasoning,
            error=opinion.error,
            cost_usd=opinion.cost_usd,
            is_cached=opinion.is_cached,
        )
        if (answer := opinion.judgement) is None:
            return told
        neighbours = list(seen.neighbours or ())
        ranks = [neighbours.index(fact) + 1 for fact in self._shown(note, seen)]
        return replace(
            told,
            relation=answer.relation,
            action=answer.action,
            target=answer.target and ranks[answer.target - 1],
            also=tuple(ranks[number - 1] for number in answer.also),
            confidence=answer.confidence,
        )


def _lasting(
    submission: Submission, judgement: Judgement, shown: Sequence[Neighbour], seen: Seen
) -> Submission:
    """Return the submission; its note lasts if a judge says that it replaces a lasting fact.

    The gate judged it a passing remark by its kind alone. If the caller or its words say that it is
    passing, it stays so.
    """
    note, target, told = submission.note, judgement.target, submission.cleaned
    if judgement.relation is not Relation.REPLACES or target is None or told is None:
        return submission
    fact = seen.facts[shown[target - 1].fact_id]
    is_told = told.candidate.note.category or infer_category(note.text) is Category.VOLATILE
    lasts = fact.category is not Category.VOLATILE and fact.valid_to is None
    if is_told or note.category is not Category.VOLATILE or not lasts:
        return submission
    days = (fact.expires_at - fact.last_confirmed_at).days if fact.expires_at else None
    assessment = replace(submission.assessment, category=Category.FACT, lifetime_days=days)
    return replace(submission, assessment=assessment).about(replace(note, category=Category.FACT))


def _fact_id(verdict: Verdict, new_id: str) -> str | None:
    """Return the id of the fact that says it from now on."""
    if verdict.action is Action.SKIP:
        return verdict.targets[0].fact_id
    return None if verdict.action is Action.REVOKE else new_id


def _ended_at(note: Note, ended: Iterable[Fact]) -> dict[str, datetime]:
    """Return the ends of facts that do not end at the note's start.

    No fact ends before its own beginning.
    """
    begins = note.holds_from
    ends = {
        fact.fact_id: max(fact.valid_from, min(fact.valid_to or begins, begins)) for fact in ended
    }
    return {fact_id: at for fact_id, at in ends.items() if at != begins}
