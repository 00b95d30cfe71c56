"""Persons' answers: yes or no to a held note, or a withdrawal."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from reconciler.domain.erasing.planning import is_erased
from reconciler.domain.gate.disposing import answer_to
from reconciler.domain.records.candidates import CONTACT, Candidate, Evidence
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.erasures import is_agent, plain_name
from reconciler.domain.records.kinds import FOR_OPERATORS, Action, Disposal, GateReason, SourceKind
from reconciler.domain.records.notes import TEXT_LENGTH_MAX, Scope, check_identifier, check_text
from reconciler.errors import InvalidAnswerError
from reconciler.frozen import frozen
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.fact_store import FactStore
from reconciler.service.writing.cleaning import Cleaner
from reconciler.service.writing.doors import as_said_to_end
from reconciler.service.writing.ids import settlement_id_of
from reconciler.service.writing.memory_reconciler import MemoryReconciler
from reconciler.service.writing.submissions import Submission
from reconciler.service.writing.write_gate import WriteGate, candidate_of

_YES = frozenset({Action.ADD, Action.UPDATE, Action.SKIP, Action.REVOKE, Action.HOLD})
"""Actions after a yes: the note is stored, ends a fact, or leads to another person's question."""

_JUST_SAID = timedelta(minutes=1)
_NO = frozenset({Action.DECLINE})
_BACK = frozenset({Action.WITHDRAW})


@frozen
class PersonsAnswers:
    """Held candidates: answered once, or taken back. Not for agents.

    Attributes:
        gate: judges the confirmed note.
        reconciler: remembers it, and records other answers.
        cleaner: checks the names of the people who answer.
        fact_store: has what was said since.
        decision_store: has the held notes.
        clock: the time now, UTC-aware.
    """

    gate: WriteGate
    reconciler: MemoryReconciler
    cleaner: Cleaner
    fact_store: FactStore
    decision_store: DecisionStore
    clock: Callable[[], datetime]

    def confirm(
        self,
        scope: Scope,
        decision_id: str,
        by: str,
        text: str | None = None,
        told_to: str | None = None,
    ) -> Decision:
        """Confirm a held note: remember it as the word of the person who says yes.

        Args:
            scope: the contact's.
            decision_id: the held decision.
            by: ``contact``, or an operator's name; never the proposer.
            text: the fact in the words of the answer; None for the words that were asked about.
            told_to: who took the contact's answer, for the record; unused for an operator's own.

        Raises:
            InvalidAnswerError: nothing waits under that id, it lapsed, it has another answer, or
                this person may not answer it.
            UnknownDecisionError: the contact has no such decision.
            InvalidNoteError: the text cannot be used.
        """
        who = self._person(by, told_to)
        held, earlier = self._held(scope, decision_id)
        if earlier is None:
            self._check_may_answer(held, by, decision_id)
            earlier = self._answered_meanwhile(held)
        if earlier is None:
            earlier = self._confirmed(held, self._as_confirmed(held, by, who, text), by)
        return _same_answer(earlier, _YES)

    def reject(
        self, scope: Scope, decision_id: str, by: str, told_to: str | None = None
    ) -> Decision:
        """Reject a held note: record the no; the same inference is not asked about again.

        Raises:
            As ``confirm``.
        """
        who = self._person(by, told_to)
        held, earlier = self._held(scope, decision_id)
        if earlier is None:
            self._check_may_answer(held, by, decision_id)
            earlier = self._refused(held, Action.DECLINE, by, f"{who} said no")
        return _same_answer(earlier, _NO)

    def withdraw(
        self, scope: Scope, decision_id: str, by: str, told_to: str | None = None
    ) -> Decision:
        """Take back a held or admitted note, so that no person is asked and nothing is committed.

        Args:
            scope: the contact's.
            decision_id: the decision that held or admitted it.
            by: the proposer, or an operator's name.
            told_to: as in ``confirm``.

        Raises:
            As ``confirm``.
        """
        who = self._person(by, told_to)
        self.cleaner.check_ids(by=by)
        held, earlier = self._held(scope, decision_id, (Action.HOLD, Action.ADMIT))
        if earlier is None:
            if by != held.proposal.proposed_by and is_agent(by, held.scope):
                raise InvalidAnswerError(f"{by} may withdraw only its own proposals")
            earlier = self._refused(held, Action.WITHDRAW, by, f"{who} withdrew it")
        return _same_answer(earlier, _BACK)

    def _person(self, by: str, told_to: str | None) -> str:
        """Who answers, in the words of the record; the contact's word with who was told it."""
        check_identifier("by", by, InvalidAnswerError)
        if told_to is None or by != CONTACT:
            return by
        check_identifier("told_to", told_to, InvalidAnswerError)
        self.cleaner.check_ids(told_to=told_to)
        return f"{by} (told to {told_to})"

    def _held(
        self, scope: Scope, decision_id: str, actions: tuple[Action, ...] = (Action.HOLD,)
    ) -> tuple[Decision, Decision | None]:
        """Held decision, and the decision that settled it, if there is one."""
        decision = self.decision_store.get_decision(scope, decision_id)
        if decision.proposal.held_id is not None:
            decision = self.decision_store.get_decision(scope, decision.proposal.held_id)
        if decision.action not in actions:
            disputed = "; settle its dispute with `resolve`"
            raise InvalidAnswerError(
                f"decision {decision_id} is {decision.action}; only a held note can be answered"
                + (disputed if decision.conflicting_ids else "")
            )
        if is_erased(decision):
            raise InvalidAnswerError(
                f"decision {decision.decision_id} was erased; there is nothing left to answer"
            )
        settled_id = settlement_id_of(decision.decision_id)
        earlier = self.decision_store.find_decision(scope, settled_id)
        lapses_at = decision.judged.lapses_at
        if earlier is None and lapses_at and lapses_at <= self.clock():
            raise InvalidAnswerError(
                f"decision {decision.decision_id} lapsed on {lapses_at:%Y-%m-%d}, so nothing was "
                "kept; the note may be proposed again"
            )
        return decision, earlier and earlier.as_replay()

    def _answered_meanwhile(self, held: Decision) -> Decision | None:
        """Answer that a person gave a moment ago; None for an open question.

        Raises:
            InvalidAnswerError: later words of the contact answered it already. A yes would replace
                them by an older answer.
        """
        answer = answer_to(held, self.fact_store.list_facts(held.scope))
        if answer is None:
            return None
        _, earlier = self._held(held.scope, held.decision_id)
        if earlier is None:
            raise InvalidAnswerError(
                f"decision {held.decision_id} was answered by a later statement: "
                f"{answer.text!r} (fact {answer.fact_id}); if that is wrong, amend it"
            )
        return earlier

    def _check_may_answer(self, held: Decision, by: str, asked_id: str) -> None:
        self.cleaner.check_ids(by=by)
        if plain_name(by) == CONTACT and by != CONTACT:
            raise InvalidAnswerError(f"for the contact pass {CONTACT!r} as by, not {by!r}")
        is_same = asked_id == held.decision_id
        asked = held if is_same else self.decision_store.get_decision(held.scope, asked_id)
        proposers = {held.proposal.proposed_by, asked.proposal.proposed_by}
        named = {plain_name(proposer) for proposer in proposers if proposer}
        if plain_name(by) in named or is_agent(by, held.scope):
            raise InvalidAnswerError(
                f"{by} may not answer: neither an agent nor the proposer of a note may confirm it; "
                f"pass {CONTACT!r} as by for the contact's own answer, or an operator's name"
            )
        if held.disposal is Disposal.CONSENT and by != CONTACT:
            raise InvalidAnswerError(
                f"only the contact may consent: pass {CONTACT!r} as by, with the contact's own "
                "answer"
            )
        if held.judged.reason in FOR_OPERATORS and by == CONTACT:
            raise InvalidAnswerError(
                f"only an operator may answer this ({held.judged.reason}): pass the operator's "
                "name as by"
            )

    def _refused(self, held: Decision, action: Action, by: str, said: str) -> Decision:
        is_no = action is Action.DECLINE
        reason = GateReason.DECLINED if is_no else GateReason.WITHDRAWN
        submission = Submission(
            candidate=candidate_of(
                held, self.decision_store.list_evidence(held.decision_id, held.scope)
            ),
            assessment=held.judged.disposed(Disposal.REJECT, reason, said),
            door=held.door,
            decision_id=settlement_id_of(held.decision_id),
            settles_id=held.decision_id,
            answered_by=by,
        )
        return self.reconciler.record(submission, action)

    def _confirmed(self, held: Decision, candidate: Candidate, by: str) -> Decision:
        """Reconcile a confirmed note; hold it again if another person's yes is needed as well.

        Raises:
            InvalidAnswerError: the gate refuses it in spite of the yes; it still waits.
        """
        judged = self.gate.judge_whole(candidate, held.door)
        if judged.assessment.disposal is Disposal.REJECT:
            raise InvalidAnswerError(
                f"the gate refuses this even after the yes: {judged.assessment.detail}; nothing "
                "was stored, and the question stays open"
            )
        assessment = judged.assessment
        if held.judged.is_redacted:  # data was already taken out: the sensitivity stays
            assessment = replace(assessment, is_redacted=True, sensitivity=held.judged.sensitivity)
        submission = replace(
            judged,
            assessment=assessment,
            decision_id=settlement_id_of(held.decision_id),
            settles_id=held.decision_id,
            answered_by=by,
        )
        if judged.is_admitted:
            return self.reconciler.reconcile(submission)
        return self.reconciler.record(replace(submission, vector=None), Action.HOLD)

    def _as_confirmed(self, held: Decision, by: str, who: str, text: str | None) -> Candidate:
        now = self.clock()
        proposed = candidate_of(
            held, self.decision_store.list_evidence(held.decision_id, held.scope)
        )
        is_contact = by == CONTACT
        source = SourceKind.USER_EXPLICIT if is_contact else SourceKind.OPERATOR
        session_id = f"confirmations-{now:%Y-%m-%d}"
        note = replace(
            proposed.note,
            said_at=now,
            is_dated=False,
            source_kind=source,
            session_id=session_id,
        )
        if text is not None or held.at - held.note.holds_from < _JUST_SAID:
            note = replace(note, valid_from=None)  # without a date: it holds as of the answer
        if text is not None:
            check_text("text", text, TEXT_LENGTH_MAX)
            note = replace(
                note, text=text, slot=None, slot_read_from=None, category=None, topic=None
            )
        answer = Evidence(
            episode_id=str(uuid.uuid4()),
            session_id=session_id,
            scope=note.scope,
            text=f"Answered by {who}: "
            + (text or f"yes.\nAsked: {held.question or proposed.claim}"),
            said_at=now,
            source_kind=source,
            is_new=True,
        )
        confirmed = replace(
            proposed,
            note=note,
            # Other words rest on themselves: what was asked about may say the opposite.
            evidence=(answer, *(proposed.evidence if text is None else ())),
            # An earlier yes that was not enough by itself still counts.
            confirmed_by=(*filter(None, [held.proposal.answered_by]), by),
            is_reworded=text is not None,
            confidence=None,
        )
        # The end belongs to the words that were asked about.
        return confirmed if text is None else as_said_to_end(confirmed, now)


def _same_answer(settled: Decision, wanted: frozenset[Action]) -> Decision:
    """Decision that settled the note, if it is the wanted answer; another may have come first.

    Raises:
        InvalidAnswerError: the note was settled in another way.
    """
    if settled.action in wanted:
        return settled
    is_yes = settled.disposal is Disposal.ADMIT
    said = "yes" if is_yes else "withdrawn" if settled.action is Action.WITHDRAW else "no"
    wrong = "`amend` or `revoke` the fact" if is_yes else "note it in other words"
    raise came_first(settled, "this question has been answered already", said, wrong)


def came_first(settled: Decision, what: str, said: str, remedy: str) -> InvalidAnswerError:
    """Error of a person who answers after another, and otherwise."""
    return InvalidAnswerError(
        f"{what}, by {settled.proposal.answered_by} on {settled.at:%Y-%m-%d, %H:%M} UTC: {said}. "
        f"Nothing was changed now; if that was wrong, {remedy}"
    )
