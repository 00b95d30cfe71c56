"""Relating: a model's later word on how known facts relate, as a decision of its own.

The rule decides what such a word may do, by the limits of any verdict. Here facts are kept, ended
or joined, and an agent's record of the facts that its reply used is written in the same way.
Persons' answers are handled elsewhere.

The later word may be a judge's. A decision without a judge that it needed (budget, outage, an
unusable answer) was made by the rule alone, and says so; ``Rejudging`` asks the arbiter about it,
and its answer is a decision that relates the facts. If the judge would have kept a fact that the
decision ended, the answer says so, and a person reverts it. This module does not revert it:
undoing and writing again are two steps, and a note could be lost between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from functools import partial

from reconciler.domain.recalling.answering import MARK_LENGTH, read_recall_id
from reconciler.domain.recalling.recalled import is_never_cut
from reconciler.domain.reconciling.ahead import Effects
from reconciler.domain.reconciling.disputes import is_replaced, is_suspended, waits_for_a_person
from reconciler.domain.reconciling.limits import WAITS, binds
from reconciler.domain.reconciling.restating import taking_over, without_ended_value
from reconciler.domain.reconciling.rule import decide, shown_to_judge
from reconciler.domain.reconciling.verdicts import neighbour_of
from reconciler.domain.records.candidates import UNJUDGED, Candidate
from reconciler.domain.records.decisions import Decision, Judgement, Verdict
from reconciler.domain.records.facts import (
    RELATED_MAX,
    Conflict,
    Conflicts,
    Fact,
    FactsById,
    Neighbour,
    Relations,
    check_not_ended,
    handle_of,
    named_by,
)
from reconciler.domain.records.kinds import (
    ANSWER_DOOR,
    LIVE_DOOR,
    Action,
    Clock,
    DecidedBy,
    Disposal,
    FactState,
    GateReason,
    Relation,
    SourceKind,
)
from reconciler.domain.records.notes import Note, Scope, check_identifier
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.errors import InvalidRequestError, UnknownFactError
from reconciler.floats import Floats
from reconciler.frozen import Json, Strings, frozen
from reconciler.service.stores.commits import Commit
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.fact_store import FactStore
from reconciler.service.writing.arbitration import Arbitration
from reconciler.service.writing.doors import as_candidate
from reconciler.service.writing.ledger import Ledger, Seen
from reconciler.service.writing.memory_reconciler import MemoryReconciler
from reconciler.service.writing.neighbourhoods import Neighbourhood, Neighbourhoods
from reconciler.service.writing.submissions import (
    DecisionIds,
    Submission,
    check_key,
    own_episode_of,
    settlement_id_of,
)
from reconciler.service.writing.write_gate import WriteGate

_ANSWERS = "answers"
"""The session of all records of answers: nothing was said in it."""


@frozen
class _Outcome:
    """The result of relating: the fact that stays, those that end for it, and contradictions.

    ``restated`` is the fact that says the same as the one that stays.
    """

    stays: Fact
    ended: tuple[Fact, ...]
    against: Strings
    restated: Fact | None
    closed: Conflicts = ()


@frozen
class Relating:
    """Relates known facts on a model's word.

    Args:
        gate: cleans the reason, like all stored words.
        fact_store: the store of facts and their conflicts.
        neighbourhoods: tell how near two facts are in meaning.
        reconciler: makes the record.
        ledger: writes.
        decision_ids: makes the ids of decisions.
        policy: the rule's thresholds.
        clock: the time now, UTC-aware.
    """

    gate: WriteGate
    fact_store: FactStore
    neighbourhoods: Neighbourhoods
    reconciler: MemoryReconciler
    ledger: Ledger
    decision_ids: DecisionIds
    policy: ReconcilePolicy
    clock: Clock

    def relate(
        self,
        scope: Scope,
        fact_id: str,
        relations: Relations,
        *,
        decided_by: DecidedBy = DecidedBy.AGENT,
        reason: str | None = None,
        session_id: str | None = None,
        proposed_by: str | None = None,
        idempotency_key: str | None = None,
    ) -> Decision:
        """Relate facts and return the decision; with the same key, the first one.

        Args:
            scope: the contact of the facts.
            fact_id: the fact that the relations are about.
            relations: its relations to other facts.
            decided_by: the model that says so: the agent's own, or a judge.
            reason: the reason, in the model's words; None for only the effect.
            session_id: the conversation in which it is said; then a binding fact ends only by the
                contact's own words in it. None if a builder answers for that.
            proposed_by: the proposer; None for the agent.
            idempotency_key: see a note's.

        Raises:
            UnknownFactError: the contact has no such fact.
            InvalidNoteError: the key belongs to another relation, or to a note.
            InvalidRequestError: a fact has ended, or the relation is not allowed to change
                anything; the text says why.
            GraphUnavailableError, GraphConflictError: as a note's.
        """
        for named_id in (fact_id, *relations.named_ids):
            check_identifier("fact_id", named_id, UnknownFactError)
        if fact_id in relations.named_ids:
            raise InvalidRequestError(f"fact {handle_of(fact_id)} cannot be related to itself")
        told = reason or _in_words(fact_id, relations)
        note = self._word(scope, told, session_id, idempotency_key)
        said = as_candidate(note, proposed_by or f"agent:{scope.agent_id}")
        submission = self._submission(replace(said, relations=relations))

        def plan(seen: Seen) -> Commit:
            facts = self._facts(scope, (fact_id, *relations.named_ids))
            related = self._suspending(scope, fact_id, relations, facts)
            ended = [facts[ended_id] for ended_id in related.ended_ids]
            is_agents = session_id is not None and decided_by is DecidedBy.AGENT
            if is_agents:
                self._check_said(facts[fact_id], str(session_id), ended)
            open_ = self.fact_store.list_conflicts(scope)
            outcome = self._outcome(scope, facts, fact_id, related, decided_by, open_)
            _check_own(fact_id, outcome)
            if is_agents:
                self._check_said(facts[fact_id], str(session_id), outcome.ended)
            return self._commit(submission, outcome, decided_by, open_, seen)

        made = self.ledger.find_earlier(submission)
        if made is None:
            made = self.ledger.write(submission, plan)
        if decided_by is DecidedBy.AGENT:  # a judge's word may differ from time to time
            check_key(submission, made)
        return made

    def cite(self, scope: Scope, recall_id: str, reference: str, used: Sequence[str]) -> Decision:
        """Record the facts that a reply or an act used; see ``ContactMemory.record_answer``."""
        check_identifier("reference", reference, InvalidRequestError)
        self.gate.cleaner.check_ids(reference=reference)
        for name in used:
            check_identifier("used", name, UnknownFactError)
        sign = partial(self.decision_ids.of_key, scope)
        about_at, marks = read_recall_id(recall_id, sign)
        note = replace(self._word(scope, reference, _ANSWERS, None), said_at=about_at)
        submission = Submission(
            candidate=as_candidate(note, f"agent:{scope.agent_id}"),
            assessment=replace(UNJUDGED, detail="it used facts of a recall"),
            door=ANSWER_DOOR,
            decision_id=sign(f"\0{reference}"),  # no key of a note is like this
            is_relating=True,
        )

        def plan(seen: Seen) -> Commit | Decision:
            facts = {
                fact.fact_id: fact
                for fact in self.fact_store.list_facts(scope)
                if fact.fact_id[:MARK_LENGTH] in marks and fact.state is not FactState.ERASED
            }
            ids = {named_by(name, facts): name for name in used}
            strange = [name for fact_id, name in ids.items() if fact_id not in facts]
            if strange or not ids:
                raise UnknownFactError(
                    "used must name facts that this recall showed, and that were not erased, by id "
                    f"or handle; it names {', '.join(strange) or 'none'}"
                )
            kept = self.reconciler.decision_store.find_decision(scope, submission.decision_id)
            if kept is None:
                shown = [neighbour_of(facts[fact_id], 1.0) for fact_id in ids]
                return self.reconciler.as_disposed(submission, Action.CITE, seen, shown=shown)
            if {fact.fact_id for fact in kept.compared_with} != ids.keys():
                raise InvalidRequestError(
                    f"the answer {reference} is on record with other facts, and nothing was "
                    "written; give a new answer a reference of its own"
                )
            return kept.as_replay()

        return self.ledger.write(submission, plan)

    def refuse(
        self, scope: Scope, why: str, *, session_id: str | None, idempotency_key: str
    ) -> Decision:
        """Record an agent's impossible relation of facts as refused; no fact changes.

        Args:
            scope: the contact of the facts.
            why: the fault of the relation.
            session_id: the conversation in which it was said.
            idempotency_key: see a note's.

        Raises:
            GraphUnavailableError, GraphConflictError: as a note's.
        """
        note = self._word(scope, f"{_REFUSED}: {why}", session_id, idempotency_key)
        decision_id = self.decision_ids.of(note)
        # Its ids follow from the key, so that a repeated call makes no new ones.
        said = replace(own_episode_of(note), episode_id=settlement_id_of(decision_id))
        refused = Candidate(note=note, evidence=(said,), proposed_by=f"agent:{scope.agent_id}")
        judged = self._submission(refused, reason=GateReason.WRONG_RELATION)
        return self.reconciler.record(replace(judged, fact_id=decision_id), Action.REJECT)

    def uphold(
        self, scope: Scope, *, reason: str, proposed_by: str, idempotency_key: str
    ) -> Decision:
        """Record that a judge looked at a fact later, and that the fact stays as it is.

        Args:
            scope: the contact of the fact.
            reason: the judge's words.
            proposed_by: the name of the judge.
            idempotency_key: see a note's.

        Raises:
            GraphUnavailableError, GraphConflictError: as a note's.
        """
        note = self._word(scope, reason, None, idempotency_key)
        submission = self._submission(as_candidate(note, proposed_by))
        # It names no fact, so that nothing rests on it.
        plan = partial(
            self.reconciler.as_disposed, submission, Action.RESOLVE, by=DecidedBy.ARBITER
        )
        return self.ledger.write(submission, plan)

    def _word(self, scope: Scope, said: str, session_id: str | None, key: str | None) -> Note:
        """Return a model's reason as a note."""
        return Note(
            scope=scope,
            text=said,
            said_at=self.clock(),
            is_dated=False,
            source_kind=SourceKind.MODEL_GUESS,
            session_id=session_id,
            idempotency_key=key,
        )

    def _submission(
        self, candidate: Candidate, reason: GateReason = GateReason.ADMITTED
    ) -> Submission:
        """Make a model's relations a cleaned submission; the gate judges no word of it."""
        judged = self.gate.judge(candidate, LIVE_DOOR)
        disposal = Disposal.ADMIT if reason is GateReason.ADMITTED else Disposal.REJECT
        return replace(
            judged,
            candidate=replace(judged.candidate, relations=candidate.relations),
            assessment=judged.assessment.disposed(disposal, reason, judged.note.text),
            is_relating=True,
        )

    def _facts(self, scope: Scope, fact_ids: Sequence[str]) -> dict[str, Fact]:
        facts = self.fact_store.find_facts(scope, fact_ids)
        check_not_ended(scope, fact_ids, facts)
        now = self.clock()
        return {fact_id: fact.as_of(now) for fact_id, fact in facts.items()}

    def _suspending(
        self, scope: Scope, fact_id: str, told: Relations, facts: FactsById
    ) -> Relations:
        """Return relations in which a fact with an end suspends another fact, and both hold."""
        fact = facts[fact_id]
        if fact.valid_to is None:
            return told
        ends_at, note = self.reconciler.plans(scope).own(fact).valid_to, _as_note(fact)
        suspended = {
            other.fact_id
            for other in facts.values()
            if ends_at is not None and is_suspended(note, ends_at, other)
            if is_replaced(other, fact.text, ends_at, told)
            if not waits_for_a_person(other, self.policy)
        }
        left, held = told.only(facts.keys() - suspended), (*told.both_hold, *sorted(suspended))
        return replace(left, both_hold=held) if left else Relations(both_hold=held)

    def _check_said(self, fact: Fact, session_id: str, ended: Iterable[Fact]) -> None:
        """Check that binding and confirmed facts end only by the contact's word in this session."""
        firm = [one for one in ended if one.is_confirmed_by_user or binds(one)]
        if not firm:
            return
        said = self.fact_store.list_said([fact.fact_id])
        if any(
            turn.session_id == session_id and turn.source_kind is SourceKind.USER_EXPLICIT
            for turn in said
        ):
            return
        raise InvalidRequestError(
            f"fact {handle_of(firm[0].fact_id)} is confirmed or standing, so it ends only by the "
            "contact's own words in this conversation: add these words as a note with the source "
            "user_explicit, and relate that note"
        )

    def _outcome(
        self,
        scope: Scope,
        facts: FactsById,
        fact_id: str,
        relations: Relations,
        decided_by: DecidedBy,
        open_: Sequence[Conflict],
    ) -> _Outcome:
        """Return the result of the relations.

        Raises:
            InvalidRequestError: they are not allowed to change anything; the text says why.
        """
        fact, now = facts[fact_id], self.clock()
        near = self.neighbourhoods.current(scope)
        others = [
            neighbour_of(
                facts[named_id],
                near.cosine_of(fact_id, named_id),
                is_expired=facts[named_id].is_lapsed(now),
                is_vital=is_never_cut(facts[named_id]),
            )
            for named_id in relations.named_ids
        ]
        held = {fact_id, *relations.both_hold}
        closed = tuple(one for one in open_ if one.ids <= held and fact_id in one.ids)
        if closed and waits_for_a_person(fact, self.policy):
            raise InvalidRequestError(f"{WAITS}; {_HOW_ELSE}")
        note = _as_note(fact)
        if not relations.replaces:  # what is over may have begun later than what stays
            note = replace(note, valid_from=max(one.valid_from for one in facts.values()))
        verdict = decide(note, others, self.policy, relations=relations, related_by=decided_by)
        if verdict.is_history:
            later = handle_of(verdict.targets[0].fact_id)
            raise InvalidRequestError(
                f"fact {later} starts later than fact {handle_of(fact_id)}, so fact "
                f"{handle_of(fact_id)} cannot replace it; if fact {later} has ended nevertheless, "
                "name it in ends"
            )
        outcome = replace(_outcome_of(verdict, fact, facts), closed=closed)
        linked = {one.ids for one in open_}
        new = tuple(each for each in outcome.against if frozenset((fact_id, each)) not in linked)
        # "Both hold" without a dispute is true; it is recorded, and changes nothing.
        is_idle = set(relations.named_ids) == set(relations.both_hold)
        if not (outcome.ended or new or closed or is_idle):
            if relations.repeats is not None:
                raise InvalidRequestError(_NO_REPETITION)
            raise InvalidRequestError(f"{verdict.reason}; {_HOW_ELSE}")
        return replace(outcome, against=new)

    def _commit(
        self,
        submission: Submission,
        outcome: _Outcome,
        decided_by: DecidedBy,
        open_: Sequence[Conflict],
        seen: Seen,
    ) -> Commit:
        stays, now = outcome.stays, self.clock()
        # A fact that is replaced by one of a later day holds until that day.
        is_ahead = stays.is_upcoming(now)
        until_then = [one for one in outcome.ended if is_ahead and not one.is_upcoming(now)]
        ended = tuple(one for one in outcome.ended if one not in until_then)
        outcome = replace(outcome, ended=ended)
        begun = [one.valid_from for one in (stays, *ended) if not one.is_upcoming(now)]
        note = submission.note.no_earlier_than(begun)
        told = submission.candidate.relations
        over = [one for one in ended if told is not None and one.fact_id in told.ends]
        restated = outcome.restated if outcome.restated in ended else None
        heir = taking_over(stays, restated) if restated else stays
        made = _links(outcome, open_, decided_by, note.text, now)
        effects = Effects(
            ended=ended,
            until_then=[(one, stays) for one in until_then],
            kept=without_ended_value(heir, over),
            over_ids=[one.fact_id for one in over],
            restated_id=restated.fact_id if restated else None,
            stays_id=stays.fact_id,
            against=outcome.against,
            closed=outcome.closed,
            closed_ids=_ids_of(outcome.closed),
            drawn=made,
        )
        about = submission.about(note)
        commit = self.reconciler.as_disposed(about, Action.RESOLVE, seen, effects, decided_by)
        left, undo = commit.kept or stays, commit.decision.changes
        if left != stays:
            undo = replace(undo, before=(*undo.before, stays.standing))
        is_moved = restated is None and left != stays
        return replace(
            commit,
            decision=replace(commit.decision, undo=undo),
            kept=left if restated else None,
            restored=(*commit.restored, left) if is_moved else commit.restored,
        )


def _as_note(fact: Fact) -> Note:
    """Return a fact as a note, so that the rule decides about it as about any note."""
    return Note(
        scope=_ANY,
        text=fact.text,
        said_at=fact.last_confirmed_at,
        valid_from=fact.valid_from,
        source_kind=fact.word,
        slot=fact.slot,
        category=fact.category,
        is_cleaned=True,
    )


def _outcome_of(verdict: Verdict, fact: Fact, facts: FactsById) -> _Outcome:
    against = tuple(conflict.fact_id for conflict in verdict.conflicts)
    targets = tuple(facts[target.fact_id] for target in verdict.targets)
    if verdict.action is Action.SKIP:
        return _Outcome(stays=targets[0], ended=(fact,), against=against, restated=fact)
    restated = targets[0] if verdict.is_restatement and targets else None
    ended = targets if verdict.action in (Action.UPDATE, Action.REVOKE) else ()
    return _Outcome(stays=fact, ended=ended, against=against, restated=restated)


def _links(
    outcome: _Outcome, open_: Sequence[Conflict], by: DecidedBy, reason: str, at: datetime
) -> Conflicts:
    """Return the new disputes of the fact that stays: its own, and those of the ending facts."""
    stays_id, gone = outcome.stays.fact_id, {one.fact_id for one in outcome.ended}
    linked = {one.ids for one in open_}
    settled = {*gone, stays_id, *_ids_of(outcome.closed)}
    made = [
        Conflict(new_id=stays_id, old_id=other, decided_by=by, reason=reason, at=at)
        for other in outcome.against
        if other not in gone
    ]
    for one in open_:
        [*others] = one.ids - gone
        if len(others) == 1 and others[0] not in settled:
            made.append(replace(one, new_id=stays_id, old_id=others[0]))
    pairs = {one.ids: one for one in made}
    return tuple(one for pair, one in pairs.items() if pair not in linked)


def _check_own(fact_id: str, outcome: _Outcome) -> None:
    """If a model may not end a fact, refuse to end that fact as a mere repetition.

    Raises:
        InvalidRequestError: the fact that relates would end, and binds or is an operator's.
    """
    for one in outcome.ended:
        if one.fact_id == fact_id and (binds(one) or one.word is SourceKind.OPERATOR):
            raise InvalidRequestError(
                f"fact {handle_of(fact_id)} is standing or an operator's, so another fact that "
                "repeats it cannot end it; relate the other fact to it instead"
            )


def _ids_of(conflicts: Sequence[Conflict]) -> Strings:
    named = (fact_id for one in conflicts for fact_id in one.pair)
    return tuple(dict.fromkeys(named))


def _in_words(fact_id: str, relations: Relations) -> str:
    """Describe a relation in words, without a word of the facts."""
    repeated = () if relations.repeats is None else (relations.repeats,)
    said = (
        ("takes the place of", relations.replaces),
        ("repeats", repeated),
        ("ends", relations.ends),
        ("holds beside", relations.both_hold),
    )
    told = (f"{what} {', '.join(map(handle_of, named))}" for what, named in said if named)
    return f"Fact {handle_of(fact_id)} {' and '.join(told)}"


_REFUSED = "What the agent said of facts was refused"

_HOW_ELSE = "if the contact said so, note it in words that name it, else a person decides"

_NO_REPETITION = "each of the two says something that the other does not, so both stay"

_ANY = Scope("any", "any", "any")
"""A scope for the rule, which never reads it, because it gets facts of one contact only."""


_SAYS_SAME = (Relation.SAME, Relation.REFINES)


class Upheld(StrEnum):
    """The result of a decision that was judged later."""

    UPHELD = "upheld"
    """The judge would have decided the same."""

    AMENDED = "amended"
    """The judge would have decided otherwise, and the facts were changed accordingly."""

    DOUBTED = "doubted"
    """The judge would have kept a fact that the decision ended; a person may ``revert`` the
    decision."""

    UNJUDGED = "unjudged"
    """The judge still does not answer, or its answer cannot be carried out; ``why`` says more."""


@frozen
class Rejudged:
    """A decision that was judged later.

    Attributes:
        decision: as it was made.
        became: the result.
        amendment: the decision that amends it, or records that it was upheld; None if unjudged.
        why: the judge's words, or the reason for which it gave no answer.
    """

    decision: Decision
    became: Upheld
    amendment: Decision | None = None
    why: str = ""

    def to_dict(self) -> Json:
        """Return plain values for JSON."""
        return {
            "decision_id": self.decision.decision_id,
            "text": self.decision.text,
            "became": str(self.became),
            "amendment": self.amendment.to_dict() if self.amendment else None,
            "why": self.why,
        }


@frozen
class Rejudging:
    """Asks the arbiter about decisions that it did not answer, within its budget.

    Args:
        decision_store: the store of decisions.
        neighbourhoods: the facts that a note is compared with, and their vectors.
        relating: relates known facts on the judge's word.
        arbitration: asks the arbiter.
        decision_ids: makes the ids of the judge's later decisions.
        policy: the rule's thresholds.
        clock: the time now, UTC-aware.
    """

    decision_store: DecisionStore
    neighbourhoods: Neighbourhoods
    relating: Relating
    arbitration: Arbitration
    decision_ids: DecisionIds
    policy: ReconcilePolicy
    clock: Clock

    def run(self, scopes: Iterable[Scope]) -> Iterator[Rejudged]:
        """Judge each unjudged decision about these contacts again, the newest first.

        The call waits for the budget. A fact that a newer one ends needs no question of its own.

        Args:
            scopes: the contacts.
        """
        for scope in scopes:
            made = [
                one
                for one in self.decision_store.iter_decisions(scope)
                if one.opinion.is_missing and one.fact_id is not None
                if one.action.writes_a_fact
            ]
            known = self.decision_store.find_decided(self._id_of(one) for one in made)
            for decision in made:
                if self._id_of(decision) in known:
                    continue
                facts = self.neighbourhoods.current(scope)  # each time: a judgement may end facts
                vector = facts.vector_of(decision.fact_id or "")
                if vector is not None:
                    yield self._rejudged(decision, facts, vector)

    def _id_of(self, decision: Decision) -> str:
        return self.decision_ids.of_key(decision.scope, _key_of(decision))

    def _rejudged(self, decision: Decision, facts: Neighbourhood, vector: Floats) -> Rejudged:
        is_ending = decision.action is Action.UPDATE
        shown = self._ended(decision) if is_ending else self._beside(decision, facts, vector)
        if not shown:
            return Rejudged(decision=decision, became=Upheld.UNJUDGED, why="nothing is near it")
        note = decision.note
        asked = note.no_earlier_than(fact.valid_from for fact in shown)
        opinion = self.arbitration.ask(asked, shown, is_patient=True)
        if opinion.judgement is None:
            return Rejudged(decision=decision, became=Upheld.UNJUDGED, why=opinion.error or "")
        if opinion.judgement.relation is Relation.UNSURE:
            return self._kept(decision, opinion.judgement, Upheld.UPHELD, "the judge is unsure")
        is_apart = opinion.judgement.action is Action.ADD
        if is_ending:
            became = Upheld.DOUBTED if is_apart else Upheld.UPHELD
            return self._kept(decision, opinion.judgement, became)
        if is_apart and not decision.conflicting_ids:
            return self._kept(decision, opinion.judgement, Upheld.UPHELD)
        try:
            return self._related(decision, opinion.judgement, shown)
        except InvalidRequestError as error:  # the rules forbid it, so it is not asked again
            return self._kept(decision, opinion.judgement, Upheld.UPHELD, str(error))

    def _ended(self, decision: Decision) -> Sequence[Neighbour]:
        """Return the facts that the decision ended, as they were then."""
        return [one for one in decision.compared_with if one.fact_id in decision.superseded_ids]

    def _beside(
        self, decision: Decision, facts: Neighbourhood, vector: Floats
    ) -> Sequence[Neighbour]:
        """Return the facts that the judge would be shown today, without the fact itself."""
        _, near, _ = facts.look(decision.note, vector, self.clock(), is_wide=True)
        others = [fact for fact in near if fact.fact_id != decision.fact_id]
        return shown_to_judge(decision.note, others, self.policy)

    def _related(
        self, decision: Decision, judgement: Judgement, shown: Sequence[Neighbour]
    ) -> Rejudged:
        """Relate the facts as the judge says."""
        relations = _relations(decision, judgement, shown)
        made = self.relating.relate(
            decision.scope,
            decision.fact_id or "",
            relations,
            decided_by=DecidedBy.ARBITER,
            reason=_reason(decision, judgement),
            proposed_by=self.arbitration.name,
            idempotency_key=_key_of(decision),
        )
        return _amended(decision, judgement, made)

    def _kept(
        self, decision: Decision, judgement: Judgement, became: Upheld, why: str | None = None
    ) -> Rejudged:
        """Change nothing, but record the judgement, so that the judge is asked only once."""
        made = self.relating.uphold(
            decision.scope,
            reason=_reason(decision, judgement),
            proposed_by=self.arbitration.name,
            idempotency_key=_key_of(decision),
        )
        rejudged = replace(_amended(decision, judgement, made), became=became)
        return rejudged if why is None else replace(rejudged, why=why)


def _amended(decision: Decision, judgement: Judgement, amendment: Decision) -> Rejudged:
    why = f"the judge calls it {judgement.relation}"
    return Rejudged(decision=decision, became=Upheld.AMENDED, amendment=amendment, why=why)


def _key_of(decision: Decision) -> str:
    return f"rejudged/{decision.decision_id}"


def _relations(decision: Decision, judgement: Judgement, shown: Sequence[Neighbour]) -> Relations:
    """Return the judge's relations, by the facts' ids."""
    if judgement.target is None:
        return Relations(both_hold=decision.conflicting_ids)
    numbers = dict.fromkeys((judgement.target, *judgement.also))
    named = tuple(shown[number - 1].fact_id for number in numbers)[:RELATED_MAX]
    if judgement.relation in _SAYS_SAME:
        return Relations(repeats=named[0])
    return Relations(replaces=named)


def _reason(decision: Decision, judgement: Judgement) -> str:
    said = f": {judgement.reasoning}" if judgement.reasoning else ""
    return f"Judged later, {judgement.relation} instead of {decision.decided_by}{said}"
